"""Runs commands in a real sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from policy.generation import Reach
from policy.processes import ChildProcess, Launcher, ProgramToStart
from policy.sandbox import (
    Bubblewrap,
    ConfinedLauncher,
    SandboxDriver,
    SandboxPlan,
    escapes,
    plan_of,
)
from policy.sandbox.landlock_rights import OLDEST
from policy.sandbox.landlock_rights import version as landlock_version
from tests.waiting import wait_until

_NOBODY = 65_534

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed here"
)


needs_landlock = pytest.mark.skipif(
    landlock_version() < OLDEST, reason="the kernel has no Landlock, or an old one"
)


def as_nobody(wanted: Callable[[], object]) -> Any:
    """Return what a function returns for another user than root, as JSON would have it.

    A child of this process calls it, with what is imported already; the programs that it starts are
    run by the system's interpreter, since that of root may be out of reach.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can run something as another user")
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("there is no interpreter that another user can run")
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
            sys.executable, sys.base_prefix, sys.prefix = "/usr/bin/python3", "/usr", "/usr"
            os.write(write_end, json.dumps(wanted()).encode())
        except Exception:  # noqa: BLE001 - pytest is in the other process
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    assert answer, "see the traceback on standard error"
    return json.loads(answer)


def plan_in(workspace: Path, reach: Reach | None = None) -> SandboxPlan:
    """Return a plan for a workspace, with an empty home folder elsewhere."""
    home = "/home/somebody"
    return plan_of(reach or Reach(), folder=str(workspace), home=home, workspace=str(workspace))


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a program has ended, and what it has printed."""

    returncode: int
    stdout: str
    stderr: str


def run(plan: SandboxPlan, script: str, driver: SandboxDriver | None = None) -> Done:
    """Run a script of bash confined, and return its status and output."""
    program = ProgramToStart(
        arguments=("bash", "-c", script), env={"PATH": os.environ["PATH"], "HOME": plan.home}
    )
    return asyncio.run(_done(ConfinedLauncher(driver or Bubblewrap(), lambda _: plan), program))


def meanwhile(
    plan: SandboxPlan,
    change: Callable[[], object],
    script: str,
    driver: SandboxDriver | None = None,
) -> Done:
    """Run a script; change something once it has made `out/ready`, and then make `go`."""
    folder = Path(plan.folder)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run, plan, script, driver)
        wait_until((folder / "out" / "ready").exists)
        change()
        (folder / "go").touch()
        return running.result()


async def _done(launcher: Launcher, program: ProgramToStart) -> Done:
    async with (
        asyncio.timeout(60),
        ChildProcess(program, launcher=launcher, errors=100_000) as child,
    ):
        child.stdin.close()
        printed = await child.stdout.read()
        status = await child.wait()
    return Done(returncode=status, stdout=printed.decode(), stderr=child.errors())


def escapes_of_nobody(driver: SandboxDriver) -> dict[str, bool]:
    """Return what another user than root reaches, from a sandbox around a workspace of its own."""

    def tried() -> dict[str, bool]:
        with tempfile.TemporaryDirectory() as workspace:
            return escapes(driver, plan_in(Path(workspace)))

    tried()  # imports what the child could not read
    found: dict[str, bool] = as_nobody(tried)
    return found
