"""A sandbox that is set up waits for a last look at the guarded names."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from policy.processes import LaunchedProgram, ProgramToStart, SupervisedLauncher

# Stands for a sandbox: it is set up once it reads from the pipe, and goes on at its end.
SANDBOX = "{setting_up}; cat <&{waiting} >&2; touch started"


class Pipe:
    """A full pipe."""

    def __init__(self) -> None:
        self.waiting, self.released = os.pipe()
        size = fcntl.fcntl(self.released, fcntl.F_GETPIPE_SZ)
        os.write(self.released, bytes(size))

    def close(self) -> None:
        os.close(self.waiting)
        os.close(self.released)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close()


async def started(pipe: Pipe, folder: Path, setting_up: str, *guarded: Path) -> LaunchedProgram:
    nothing = os.open(os.devnull, os.O_RDWR)
    script = SANDBOX.format(setting_up=setting_up, waiting=pipe.waiting)
    program = ProgramToStart(
        arguments=("bash", "-c", script),
        env={"PATH": os.environ["PATH"]},
        folder=str(folder),
        descriptors=(pipe.waiting,),
        guarded=tuple(map(str, guarded)),
        released=pipe.released,
    )
    try:
        return await SupervisedLauncher().launch(
            program, stdin=nothing, stdout=nothing, stderr=nothing
        )
    finally:
        os.close(nothing)
        pipe.close()
        pipe.waiting, pipe.released = os.pipe()


@pytest.mark.parametrize("is_guarded", [True, False])
async def test_it_goes_on_where_nothing_was_lost(
    is_guarded: bool, pipe: Pipe, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    guarded = (tmp_path / "file",) if is_guarded else ()
    program = await started(pipe, tmp_path, "true", *guarded)
    assert await program.wait() == 0
    assert (tmp_path / "started").exists()


async def test_it_starts_no_program_where_a_name_was_lost_meanwhile(
    pipe: Pipe, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    program = await started(pipe, tmp_path, "rm file; touch file", tmp_path / "file")
    assert await program.wait() == -9
    assert program.lost_name == str(tmp_path / "file")
    assert not (tmp_path / "started").exists()


async def test_one_that_ends_before_it_is_set_up_is_not_waited_for(
    pipe: Pipe, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    program = await started(pipe, tmp_path, "exit 3", tmp_path / "file")
    assert await program.wait() == 3
