"""Runs commands in a real sandbox."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from policy.generation import Reach
from policy.processes import ChildProcess, Launcher, ProgramToStart
from policy.sandbox import Bubblewrap, ConfinedLauncher, SandboxDriver, SandboxPlan, plan_of

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed here"
)


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


async def _done(launcher: Launcher, program: ProgramToStart) -> Done:
    async with (
        asyncio.timeout(60),
        ChildProcess(program, launcher=launcher, errors=100_000) as child,
    ):
        child.stdin.close()
        printed = await child.stdout.read()
        status = await child.wait()
    return Done(returncode=status, stdout=printed.decode(), stderr=child.errors())


def working_in(folder: Path) -> list[str]:
    """Return the processes that work in a folder, as seen from outside."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == str(folder):
                found.append(pid)
        except OSError:
            continue
    return found


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until something of another process holds, for half a minute at most."""
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.02)
