"""Starts programs so that nothing which they start outlives them, or this process."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
from asyncio.subprocess import Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from policy.processes import supervisor
from policy.processes.guard import Guard
from policy.processes.isolation import interpreter_of

# How long the supervisor may take to end what was started; longer than its own patience.
_GRACE = 4.0
_ENDING: set[asyncio.Task[None]] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A file of Python whose `main` runs beside a program for a moment, called with `numbers`.

    It runs in a process of its own, forked from the supervisor, as an interpreter takes longer to
    start. It alone gets `descriptors` of this process.
    """

    file: str
    numbers: tuple[int, ...]
    descriptors: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramToStart:
    """A program to start. `env` is its whole environment: nothing is inherited.

    `descriptors` are those of this process that it gets besides the standard streams, under the
    same numbers. `groups` are folders of control groups that it joins, and `temporary` are folders;
    both are removed when it has ended. Without `core_dumps`, none is left of it. `beside` is what
    runs beside it while it starts. The names in `guarded` have to lead to the same files and
    folders as long as it runs: where one is replaced, renamed or removed, it is ended. `released`
    is the end of a full pipe: once something is read from that, the sandbox is set up, and waits
    until it is closed, for a last look at these names.

    In a sandbox, it may read the `libraries` as it reads those of the system. One that `installs`
    into a folder may write there and reads nothing else of a call's: it runs nobody's code, and its
    sandbox is not that of the programs of calls.
    """

    arguments: tuple[str, ...]
    env: Mapping[str, str]
    folder: str | None = None
    descriptors: tuple[int, ...] = ()
    groups: tuple[str, ...] = ()
    temporary: tuple[str, ...] = ()
    core_dumps: bool = True
    beside: Beside | None = None
    guarded: tuple[str, ...] = ()
    released: int | None = None
    libraries: tuple[str, ...] = ()
    installs: str | None = None


class LaunchedProgram(Protocol):
    """A running program, with all that it has started."""

    @property
    def pid(self) -> int:
        """The leader of the program's process group."""
        ...

    @property
    def returncode(self) -> int | None:
        """The exit status; None while it runs. A negative one is the signal that ended it."""
        ...

    @property
    def lost_name(self) -> str | None:
        """The guarded name for which it was ended; None if it was not."""
        ...

    async def wait(self) -> int:
        """Wait until the program has ended and return its exit status."""
        ...

    def terminate(self) -> None:
        """Ask every process of its group to end."""
        ...

    async def end(self) -> None:
        """Kill every process that it has started, itself too, even if waiting is cancelled."""
        ...


class Launcher(Protocol):
    """Starts programs; a sandbox is one that starts them confined."""

    async def launch(
        self, program: ProgramToStart, *, stdin: int, stdout: int, stderr: int
    ) -> LaunchedProgram:
        """Start a program on these descriptors, which stay the caller's; raise OSError."""
        ...


class SupervisedLauncher:
    """Starts each program below a small supervisor, which ends whatever the program has started.

    It does so when the program has ended, when `end` is called, and when this process is gone,
    even if it was killed.
    """

    async def launch(
        self, program: ProgramToStart, *, stdin: int, stdout: int, stderr: int
    ) -> LaunchedProgram:
        """Start a program; raise OSError, or ValueError for arguments that no program can get."""
        require_program(program)
        guard = Guard(program.guarded, program.released)
        watched, life = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *interpreter_of(supervisor.__file__),
                *_settings(watched, program),
                *guard.options,
                "--",
                *program.arguments,
                cwd=program.folder,
                env=dict(program.env),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(watched, *program.descriptors, *_beside(program), *guard.descriptors),
                start_new_session=True,
            )
        except BaseException:
            # The supervisor sees its server gone, and ends what was started meanwhile.
            os.close(life)
            guard.close()
            raise
        finally:
            os.close(watched)
            guard.close_given()
        return _Supervised(process, life, guard)


def _settings(watched: int, program: ProgramToStart) -> tuple[str, ...]:
    """Return what the supervisor is told, before the program's arguments."""
    return (
        str(watched),
        *(f"--descriptor={each}" for each in program.descriptors),
        *(f"--group={each}" for each in program.groups),
        *(f"--temporary={each}" for each in program.temporary),
        *(() if program.core_dumps else ("--no-core",)),
        *(f"--beside-descriptor={each}" for each in _beside(program)),
        *(() if program.beside is None else _options(program.beside)),
    )


def _beside(program: ProgramToStart) -> tuple[int, ...]:
    return () if program.beside is None else program.beside.descriptors


def _options(beside: Beside) -> tuple[str, ...]:
    numbers = (f"--beside-number={each}" for each in beside.numbers)
    return (f"--beside={beside.file}", *numbers)


def require_program(program: ProgramToStart) -> None:
    """Raise FileNotFoundError for a program that is not there: what starts it could not say so."""
    name = program.arguments[0]
    if os.sep in name:
        found = shutil.which(os.path.join(program.folder or os.curdir, name))
    else:
        found = shutil.which(name, path=program.env.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


class _Supervised:
    """A supervised program. `life` is the pipe whose closing ends it."""

    def __init__(self, process: Process, life: int, guard: Guard) -> None:
        self._process = process
        self._life = life
        self._guard = guard
        self._swept = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    @property
    def lost_name(self) -> str | None:
        return self._guard.lost()

    async def wait(self) -> int:
        code = await self._process.wait()
        self._sweep()
        return code

    def terminate(self) -> None:
        if self._process.returncode is None:
            self._signal(signal.SIGTERM)

    async def end(self) -> None:
        if self._life >= 0:
            os.close(self._life)
            self._life = -1
        if self._process.returncode is None:
            ending = asyncio.ensure_future(self._ended())
            _ENDING.add(ending)
            ending.add_done_callback(_ENDING.discard)
            await asyncio.shield(ending)

    async def _ended(self) -> None:
        try:
            async with asyncio.timeout(_GRACE):
                await self._process.wait()
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await self._process.wait()
        self._sweep()

    def _sweep(self) -> None:
        """Kill what is left of the group: the program may have stopped or killed its supervisor.

        Once only, since a later process may get the group's number.
        """
        if not self._swept:
            self._swept = True
            self._signal(signal.SIGKILL)
            self._guard.close()

    def _signal(self, number: int) -> None:
        # The supervisor leads the group, so the group keeps its number while it has members.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
