"""`ChildProcess`: one run of a program that is spoken to over its standard streams."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Self

from policy.processes.kept_output import KeptOutput
from policy.processes.launcher import LaunchedProgram, Launcher, ProgramToStart, SupervisedLauncher

# Where programs and a user's own files are found. Everything else is passed by name.
_ALWAYS = ("HOME", "LANG", "PATH", "TMPDIR")
_KEPT_ERRORS = 8_192  # bytes
_LAST_WORDS = 1.0  # seconds to wait for the end of standard error


def named_environment(
    names: Iterable[str] = (), *, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of a program: variables by name, and those of `more`.

    Of this process's environment it has HOME, LANG, PATH and TMPDIR, and those that are named.
    """
    inherited = {name: os.environ[name] for name in (*_ALWAYS, *names) if name in os.environ}
    return {**inherited, **(more or {})}


class ChildProcess:
    """One run of a program, from entering the block to its end.

    Its processes end with the block, and with this process, even if it is killed (as far as
    `launcher` sees to that). `grace` is how many seconds it may take to end by itself: once after
    its input was closed, and once after it was asked to by SIGTERM. A block that is left by an
    exception, such as a time limit, does not wait for that.
    """

    def __init__(
        self,
        program: ProgramToStart,
        *,
        launcher: Launcher | None = None,
        grace: float = 2.0,
        errors: int = _KEPT_ERRORS,
    ) -> None:
        self._program = program
        self._launcher = launcher or SupervisedLauncher()
        self._grace = grace
        self._errors = KeptOutput(errors, of="end")
        self._running = AsyncExitStack()
        self._launched: LaunchedProgram | None = None
        self._ended: asyncio.Task[int] | None = None
        self._reading_errors: asyncio.Task[None] | None = None
        self.stdout = asyncio.StreamReader()
        self._stdin: asyncio.StreamWriter | None = None

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """The program's input."""
        assert self._stdin is not None  # it has been started
        return self._stdin

    @property
    def pid(self) -> int:
        """The leader of the program's process group."""
        assert self._launched is not None  # it has been started
        return self._launched.pid

    @property
    def program(self) -> LaunchedProgram:
        """The running program, as its launcher returned it."""
        assert self._launched is not None  # it has been started
        return self._launched

    async def __aenter__(self) -> Self:
        """Start the program; raise OSError, or ValueError for arguments that it cannot get."""
        try:
            await self._start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *ignored: object) -> None:
        await self.stop(at_once=kind is not None)

    async def wait(self) -> int:
        """Wait until the program has ended and return its exit status."""
        assert self._ended is not None  # it has been started
        return await asyncio.shield(self._ended)

    def errors(self) -> str:
        """Return the end of what the program has written to standard error."""
        return self._errors.text()

    async def last_words(self) -> str:
        """Return `errors()` once all of it was read: at its end, or after a second."""
        if self._reading_errors is not None:
            await asyncio.wait((self._reading_errors,), timeout=_LAST_WORDS)
        return self.errors()

    async def _start(self) -> None:
        await self._running.enter_async_context(self._errors)
        # The program's own ends: the streams end when nothing has them open any more.
        with ExitStack() as given:
            given.callback(self._errors.let_go)
            stdin = await self._open_input(given)
            stdout = await self._open_output(given)
            self._launched = await self._launcher.launch(
                self._program, stdin=stdin, stdout=stdout, stderr=self._errors.write_end
            )
        self._ended = asyncio.create_task(self._launched.wait())
        self._reading_errors = asyncio.create_task(self._errors.drain())

    async def _open_input(self, given: ExitStack) -> int:
        """Open the pipe that the program reads, and return its end of it."""
        read_end, write_end = os.pipe()
        given.callback(os.close, read_end)
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
            os.fdopen(write_end, "wb"),
        )
        self._running.callback(_close_now, transport)
        self._stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        return read_end

    async def _open_output(self, given: ExitStack) -> int:
        """Open the pipe that the program writes, and return its end of it."""
        read_end, write_end = os.pipe()
        given.callback(os.close, write_end)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.stdout), os.fdopen(read_end, "rb")
        )
        self._running.callback(transport.close)
        return write_end

    async def stop(self, *, at_once: bool = False) -> None:
        """End the program with everything that it has started; return when it has ended.

        With `at_once`, it gets no time to end by itself.
        """
        try:
            if self._launched is not None and self._ended is not None and not at_once:
                await self._end_by_itself(self._launched, self._ended)
        finally:
            try:
                if self._launched is not None:
                    await self._launched.end()
            finally:
                await self._let_go()

    async def _end_by_itself(self, launched: LaunchedProgram, ended: asyncio.Task[int]) -> None:
        self.stdin.close()
        await asyncio.wait((ended,), timeout=self._grace)
        if not ended.done():
            launched.terminate()
            await asyncio.wait((ended,), timeout=self._grace)

    async def _let_go(self) -> None:
        tasks = [each for each in (self._ended, self._reading_errors) if each is not None]
        if tasks:
            # What the program wrote at its end is still in the pipe.
            await asyncio.wait(tasks, timeout=_LAST_WORDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._running.aclose()


def _close_now(transport: asyncio.WriteTransport) -> None:
    """Close a pipe without waiting for a program that does not read it."""
    if transport.get_write_buffer_size() or not transport.is_closing():
        transport.abort()
