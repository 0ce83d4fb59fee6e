"""`bash_exec` with a real shell."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policy.model import Execution, Timeout
from policy.tools import ExecutionContext, Limits
from policy.tools.handlers.shell import bash_exec
from tests.waiting import gone, is_written, until, working_in

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
    await gone(int((tmp_path / "child").read_text()))


async def test_a_background_process_that_holds_the_output_does_not_hold_the_call(
    run: Run, tmp_path: Path
) -> None:
    result = await run("sleep 300 & echo $! | tee child")
    assert result["exit_code"] == 0
    await gone(int((tmp_path / "child").read_text()))


async def test_a_timeout_ends_the_whole_group(run: Run, tmp_path: Path) -> None:
    with pytest.raises(Timeout) as caught:
        await run("sleep 300 & wait", timeout=1)
    assert caught.value.seconds == 1
    await until(lambda: not working_in(tmp_path))


async def test_a_cancelled_call_ends_the_whole_group(run: Run, tmp_path: Path) -> None:
    task = asyncio.create_task(run("sleep 300 & echo $! > child; mv child begun; wait"))
    await until((tmp_path / "begun").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(int((tmp_path / "begun").read_text()))


# Ways to stay behind. Each writes the number of the process that should be gone to `child`.
STAYS_BEHIND = {
    "in the background": "sleep 300 & echo $! > child",
    "deaf to signals": "(trap '' TERM HUP INT; echo $BASHPID > child; sleep 300; sleep 300) &",
    "in a session of its own": "setsid sh -c 'echo $$ > child; exec sleep 300' &",
    "orphaned in a session of its own": "(setsid sh -c 'echo $$ > child; exec sleep 300' &) &",
    "a daemon": "(setsid sh -c '(echo $$ > child; sleep 300) &' &) >/dev/null 2>&1 &",
}
BEGUN = "\nuntil test -s child; do sleep 0.01; done"


@pytest.mark.parametrize("how", STAYS_BEHIND)
async def test_what_stays_behind_ends_with_its_call(run: Run, tmp_path: Path, how: str) -> None:
    result = await run(STAYS_BEHIND[how] + BEGUN)
    assert result["exit_code"] == 0
    await gone(int((tmp_path / "child").read_text()))


HOST = """
import asyncio, os, sys
from policy.service import ExecutionContext, Limits
from policy.tools.handlers.shell import bash_exec
ctx = ExecutionContext(workspace=sys.argv[1], env={"PATH": os.environ["PATH"]})
asyncio.run(bash_exec(Limits())({"command": sys.argv[2]}, ctx))
"""


@pytest.mark.parametrize("how", ["in the foreground", *STAYS_BEHIND])
async def test_nothing_outlives_a_server_that_is_killed(tmp_path: Path, how: str) -> None:
    command = STAYS_BEHIND.get(how, "echo $$ > child")
    command += "\necho $$ > shell; mv shell begun; sleep 300"
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, str(tmp_path), command + "; touch went-on"
    )
    await until(lambda: (tmp_path / "begun").exists() and is_written(tmp_path / "child"))
    host.kill()
    assert await host.wait() == -signal.SIGKILL
    for name in ("begun", "child"):
        await gone(int((tmp_path / name).read_text()))
    assert not (tmp_path / "went-on").exists()


async def test_a_command_that_kills_its_supervisor_ends_with_it(run: Run, tmp_path: Path) -> None:
    result = await run("sleep 300 & echo $! > child; echo $$ > shell; kill -9 $PPID; sleep 300")
    assert result["exit_code"] == -signal.SIGKILL
    for name in ("child", "shell"):
        await gone(int((tmp_path / name).read_text()))


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "PIPE", "USR1", "SEGV", "KILL"])
async def test_a_signal_that_ends_the_shell_is_told(run: Run, tmp_path: Path, name: str) -> None:
    result = await run(f"kill -{name} $$")
    assert result["exit_code"] == -getattr(signal, f"SIG{name}")
    assert os.listdir(tmp_path) == []


async def test_a_signal_to_the_whole_group_is_for_the_command_alone(run: Run) -> None:
    result = await run("trap 'echo told; exit 7' TERM; sleep 300 & kill 0; wait")
    assert (result["exit_code"], result["stdout"]) == (7, "told\n")


async def test_a_shell_that_is_not_there_is_a_failure_of_the_tool(tmp_path: Path) -> None:
    nowhere = tmp_path / "empty"
    nowhere.mkdir()
    workspace = tmp_path / "work"
    workspace.mkdir()
    ctx = ExecutionContext(workspace=str(workspace), env={"PATH": str(nowhere)})
    with pytest.raises(Execution, match="`bash` is not installed"):
        await bash_exec(Limits())({"command": "true"}, ctx)


@pytest.mark.parametrize("command", ["a\0b", "\ud800"])
async def test_what_is_no_command_line_is_refused(run: Run, command: str) -> None:
    with pytest.raises(Execution):
        await run(command)


async def test_the_shell_runs_what_was_read(run: Run) -> None:
    # Bash names the script that it was given.
    result = await run("cat <<'E'\n$x\nE\necho `echo \"$BASH_EXECUTION_STRING\"`  # a comment")
    assert result["stdout"].startswith("$x\ncat <<< '$x' echo $(echo")
    assert "comment" not in result["stdout"]


async def test_a_script_that_cannot_be_read_runs_as_it_came(run: Run) -> None:
    result = await run("echo $[1+2]")
    assert result["stdout"] == "3\n"


async def test_nothing_of_the_environment_steers_the_shell(tmp_path: Path) -> None:
    (tmp_path / "start").write_text("echo started")
    env = {
        "PATH": os.environ["PATH"],
        "BASH_ENV": str(tmp_path / "start"),
        "ENV": str(tmp_path / "start"),
        "BASH_FUNC_ls%%": "() { echo function; }",
        "SHELLOPTS": "xtrace",
        "BASHOPTS": "extglob:expand_aliases",
        "CDPATH": "/",
        "TEXTDOMAIN": "messages",
    }
    ctx = ExecutionContext(workspace=str(tmp_path), env=env)
    tool = bash_exec(Limits())
    result = await tool({"command": "ls; shopt -q expand_aliases || echo off; env"}, ctx)
    assert result["stdout"].startswith("start\noff\n")
    assert not {"BASH_ENV", "ENV", "BASHOPTS", "CDPATH", "TEXTDOMAIN"} & {
        line.partition("=")[0] for line in result["stdout"].splitlines()
    }
    assert result["stderr"] == ""


async def test_no_program_of_the_workspace_is_found_unless_the_operator_says_so(
    tmp_path: Path,
) -> None:
    workspace = tmp_path / "work"
    bin_folder = workspace / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    for name in ("ls", "own"):
        (bin_folder / name).write_text("#!/bin/sh\necho ours\n")
        (bin_folder / name).chmod(0o755)
    (tmp_path / "link").symlink_to(bin_folder)
    path = f"{bin_folder}:{tmp_path / 'link'}:.venv/bin::.:{os.environ['PATH']}"
    ctx = ExecutionContext(workspace=str(workspace), env={"PATH": path})
    command = {"command": "ls -d .; own 2> /dev/null; echo $?"}
    assert (await bash_exec(Limits())(command, ctx))["stdout"] == ".\n127\n"
    allowed = bash_exec(Limits(command_path=(".venv/bin",)))
    assert (await allowed(command, ctx))["stdout"] == "ours\nours\n0\n"


_BARE_FILES = {
    "HEAD": "ref: refs/heads/main\n",
    "objects/none": "",
    "refs/none": "",
    "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n"
    '\tfsmonitor = "touch ran; false"\n',
}


@pytest.mark.parametrize("told", ["", "1"])
async def test_git_takes_no_folder_for_a_repository_that_does_not_say_so(
    tmp_path: Path, told: str
) -> None:
    for name, text in _BARE_FILES.items():
        file = tmp_path / "build" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "none")}
    if told:
        env |= {"GIT_CONFIG_COUNT": told, "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"}
    ctx = ExecutionContext(workspace=str(tmp_path), env=env)
    tool = bash_exec(Limits())
    result = await tool({"command": "git config a.b; cd build && git status"}, ctx)
    assert result["exit_code"] != 0
    assert result["stdout"] == ("c\n" if told else "")
    assert "ran" not in {*os.listdir(tmp_path), *os.listdir(tmp_path / "build")}


async def test_an_operator_may_let_git_take_bare_repositories(tmp_path: Path) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.barerepository",
        "GIT_CONFIG_VALUE_0": "all",
    }
    ctx = ExecutionContext(workspace=str(tmp_path), env=env)
    command = "git init -q --bare r && cd r && git rev-parse --is-bare-repository"
    assert (await bash_exec(Limits())({"command": command}, ctx))["stdout"] == "true\n"
