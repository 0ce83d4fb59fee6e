"""`ChildProcess` with real programs: what they get, and that nothing outlives them."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from policy.processes import (
    ChildProcess,
    LaunchedProgram,
    ProgramToStart,
    SupervisedLauncher,
    named_environment,
)
from tests.waiting import gone, skip_time


def shell(script: str, **more: str) -> ProgramToStart:
    return ProgramToStart(arguments=("sh", "-c", script), env=named_environment(more=more))


async def test_a_program_is_spoken_to_over_its_streams() -> None:
    async with ChildProcess(shell("read line; echo you said $line; echo aside >&2")) as child:
        child.stdin.write(b"hello\n")
        assert await child.stdout.readline() == b"you said hello\n"
        assert await child.wait() == 0
        assert await child.stdout.read() == b""
    assert child.errors() == "aside\n"


async def test_only_named_variables_are_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_TEST_SECRET", "hush")
    monkeypatch.setenv("PLACET_TEST_NAMED", "named")
    env = named_environment(["PLACET_TEST_NAMED", "PLACET_TEST_ABSENT"], more={"OWN": "own"})
    async with ChildProcess(ProgramToStart(arguments=("env",), env=env)) as child:
        shown = (await child.stdout.read()).decode().splitlines()
    names = {line.partition("=")[0] for line in shown}
    assert names <= {"HOME", "LANG", "PATH", "TMPDIR", "PLACET_TEST_NAMED", "OWN", "LC_CTYPE"}
    assert {"PLACET_TEST_NAMED=named", "OWN=own"} <= set(shown)


async def test_no_descriptor_of_this_process_is_passed(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w"):
        async with ChildProcess(shell("ls /proc/self/fd")) as child:
            numbers = (await child.stdout.read()).decode().split()
    # The fourth is the folder that `ls` reads.
    assert numbers == ["0", "1", "2", "3"]


async def test_the_end_of_standard_error_is_kept() -> None:
    script = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo last >&2"
    async with ChildProcess(shell(script), errors=10) as child:
        await child.wait()
    assert child.errors() == "xxxxxlast\n"


async def test_a_program_may_end_by_itself_when_its_input_closes(tmp_path: Path) -> None:
    done = tmp_path / "done"
    async with ChildProcess(shell(f"cat; echo tidy > {done}"), grace=60):
        pass
    assert done.read_text() == "tidy\n"


async def test_a_program_that_ignores_its_input_is_asked_to_end(tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = f"trap 'echo told > {told}; exit' TERM; echo ready; while :; do sleep 0.01; done"
    async with ChildProcess(shell(script), grace=60) as child:
        await child.stdout.readline()
        asyncio.get_running_loop().call_later(0.05, skip_time, 60)
    assert told.read_text() == "told\n"


async def test_a_program_that_does_not_end_when_asked_is_killed() -> None:
    script = "trap '' TERM; echo ready; while :; do sleep 0.01; done"
    async with ChildProcess(shell(script), grace=0.1) as child:
        await child.stdout.readline()
    assert await child.wait() != 0


async def test_last_words_are_waited_for() -> None:
    """Standard error may end after standard output has."""
    async with ChildProcess(shell("exec >&-; sleep 0.1; echo sorry >&2")) as child:
        assert await child.stdout.read() == b""
        assert child.errors() == ""
        assert await child.last_words() == "sorry\n"


# Each writes the number of the process that should be gone.
STAYS_BEHIND = {
    "in the background": "sleep 300 & echo $!",
    "deaf to signals": "(trap '' TERM HUP INT; sh -c 'echo $PPID'; sleep 300; sleep 300) &",
    "in a session of its own": "setsid sh -c 'echo $$; exec sleep 300' &",
    "orphaned in a session of its own": "(setsid sh -c 'echo $$; exec sleep 300' &) &",
}


@pytest.mark.parametrize("how", STAYS_BEHIND)
@pytest.mark.parametrize("after", ["read go; exit 0", "cat", "exec sleep 300"])
async def test_nothing_outlives_the_block(how: str, after: str) -> None:
    async with ChildProcess(shell(f"{STAYS_BEHIND[how]}\n{after}"), grace=0.1) as child:
        pid = int(await child.stdout.readline())
        child.stdin.write(b"go\n")
    await gone(pid)


HOST = """
import asyncio, sys
from policy.processes import ChildProcess, ProgramToStart, named_environment

async def main():
    program = ProgramToStart(arguments=("sh", "-c", sys.argv[1]), env=named_environment())
    async with ChildProcess(program) as child:
        print((await child.stdout.readline()).decode().strip(), flush=True)
        await asyncio.sleep(300)

asyncio.run(main())
"""


@pytest.mark.parametrize("how", STAYS_BEHIND)
async def test_nothing_outlives_a_placet_that_is_killed(how: str) -> None:
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, STAYS_BEHIND[how] + "\nsleep 300", stdout=-1
    )
    assert host.stdout is not None
    pid = int(await host.stdout.readline())
    host.kill()
    assert await host.wait() == -signal.SIGKILL
    await gone(pid)


async def test_a_cancelled_block_ends_the_program() -> None:
    ready = asyncio.Event()
    pids = []

    async def use() -> None:
        async with ChildProcess(shell("echo $$; exec sleep 300"), grace=0.1) as child:
            pids.append(int(await child.stdout.readline()))
            ready.set()
            await child.wait()

    task = asyncio.create_task(use())
    await ready.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(pids[0])


async def test_a_block_that_is_left_by_an_error_does_not_wait_for_the_program() -> None:
    """It ignores that its input is closed, and would have an hour to notice."""
    pids = []

    async def fail() -> None:
        async with ChildProcess(shell("echo $$; exec sleep 300"), grace=3600) as child:
            pids.append(int(await child.stdout.readline()))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    await gone(pids[0])


@pytest.mark.parametrize("name", ["no-such-program", "./no-such-program", __file__])
async def test_a_program_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(FileNotFoundError, match=name):
        async with ChildProcess(ProgramToStart(arguments=(name,), env=named_environment())):
            pass


async def test_a_program_that_cannot_get_its_arguments_is_an_error() -> None:
    with pytest.raises(ValueError, match="null byte"):
        async with ChildProcess(shell("a\0b")):
            pass


class Confining:
    """A launcher that starts every program by another one, as a sandbox does."""

    async def launch(
        self, program: ProgramToStart, *, stdin: int, stdout: int, stderr: int
    ) -> LaunchedProgram:
        inside = replace(program, arguments=("env", "CONFINED=yes", *program.arguments))
        return await SupervisedLauncher().launch(inside, stdin=stdin, stdout=stdout, stderr=stderr)


async def test_a_launcher_may_start_programs_its_own_way() -> None:
    async with ChildProcess(shell("echo $CONFINED"), launcher=Confining()) as child:
        assert await child.stdout.readline() == b"yes\n"


async def test_programs_leave_no_descriptors_behind() -> None:
    async with ChildProcess(shell("cat")):
        pass
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(5):
        async with ChildProcess(shell("cat")):
            pass
    assert sorted(os.listdir("/proc/self/fd")) == before


async def test_programs_start_where_very_many_files_are_open() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    with ExitStack() as open_files:
        open_files.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        # As many as `select` takes.
        for _ in range(1_024):
            open_files.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        async with ChildProcess(shell("echo a")) as child:
            assert await child.stdout.readline() == b"a\n"
            assert await child.wait() == 0
