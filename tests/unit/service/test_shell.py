"""`bash_exec` with a real shell."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policy.errors import Execution, Timeout
from policy.service import ExecutionContext, Limits
from policy.service.handlers.shell import bash_exec

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    tool = bash_exec(Limits(output=100, command_seconds=20))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ctx = ExecutionContext(workspace=str(tmp_path), env=env)

    async def call(command: str, **more: Any) -> Any:
        return await tool({"command": command, **more}, ctx)

    return call


async def test_a_command_runs_in_the_workspace(run: Run, tmp_path: Path) -> None:
    result = await run("pwd; echo oops >&2; exit 3")
    assert result == {
        "exit_code": 3,
        "stdout": f"{tmp_path}\n",
        "stderr": "oops\n",
        "truncated": False,
    }


async def test_nothing_of_our_environment_is_seen(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_TEST_SECRET", "hush")
    result = await run("echo ${PLACET_TEST_SECRET-unset}; cat")
    assert result["stdout"] == "unset\n"


async def test_output_is_bounded_while_the_command_goes_on(run: Run) -> None:
    result = await run("head -c 3000000 /dev/zero | tr '\\0' x; echo done >&2")
    assert result["stdout"] == "x" * 100
    assert result["truncated"]
    assert result["stderr"] == "done\n"


async def test_no_process_outlives_its_call(run: Run, tmp_path: Path) -> None:
    await run("sleep 300 & echo $! > child; exec 1>&- 2>&-")
    assert await _ended(int((tmp_path / "child").read_text()))


async def test_a_background_process_that_holds_the_output_does_not_hold_the_call(
    run: Run, tmp_path: Path
) -> None:
    result = await run("sleep 300 & echo $! | tee child")
    assert result["exit_code"] == 0
    assert await _ended(int((tmp_path / "child").read_text()))


async def test_a_timeout_ends_the_whole_group(run: Run, tmp_path: Path) -> None:
    with pytest.raises(Timeout) as caught:
        await run("sleep 300 & echo $! > child; wait", timeout=1)
    assert caught.value.seconds == 1
    assert await _ended(int((tmp_path / "child").read_text()))


async def test_a_cancelled_call_ends_the_whole_group(run: Run, tmp_path: Path) -> None:
    task = asyncio.create_task(run("sleep 300 & echo $! > child; mv child begun; wait"))
    while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _ended(int((tmp_path / "begun").read_text()))


@pytest.mark.parametrize("command", ["a\0b", "\ud800"])
async def test_what_is_no_command_line_is_refused(run: Run, command: str) -> None:
    with pytest.raises(Execution):
        await run(command)


async def _ended(pid: int) -> bool:
    """Wait for a process that was killed to be gone; dying takes the kernel a moment."""
    for _ in range(500):
        if not _alive(pid):
            return True
        await asyncio.sleep(0.01)
    return False


def _alive(pid: int) -> bool:
    """Tell whether a process still runs; one that is dead but not collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in ("Z", "X")
