"""`OnDemand`: something that is opened when it is first used, kept open, and opened again.

A program or a connection that fails is not tried again and again: each failure in a row doubles the
pause before the next attempt, and after several nothing is tried for a longer time.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from policy.runtime import looked_at_again

_Opened = TypeVar("_Opened", covariant=True)
_Value = TypeVar("_Value")

# Reports that something open cannot be used any more, and why.
Lost: TypeAlias = Callable[[str], None]
State: TypeAlias = Literal["closed", "opening", "open", "failed"]


class Open(Protocol[_Opened]):
    """Opens something; what it returns may call `lost` when it ends by itself."""

    def __call__(self, lost: Lost) -> AbstractAsyncContextManager[_Opened]:
        """Return the context manager that opens and closes it."""
        ...


class Unavailable(Exception):
    """Something cannot be opened, or must not be tried yet; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartLimits:
    """When something is opened again, in seconds.

    `handshake` is how long opening may take. After the second failure in a row it pauses for
    `first_pause`, then for twice as long each time, at most `longest_pause`; after `failures` of
    them for `broken_pause`, before one attempt more. What was open for `steady` seconds has not
    failed if it ends. What nobody has used for `idle` seconds is closed.
    """

    handshake: float = 30.0
    first_pause: float = 0.5
    longest_pause: float = 30.0
    failures: int = 5
    broken_pause: float = 60.0
    steady: float = 10.0
    idle: float | None = 600.0

    def pause_after(self, failures: int) -> float:
        """Return how long to wait after so many failures in a row."""
        if failures < 2:
            return 0.0
        if failures >= self.failures:
            return self.broken_pause
        return min(self.longest_pause, self.first_pause * 2.0 ** (failures - 2))


class _Run(Generic[_Value]):
    """One time that something is open, held by a task of its own."""

    def __init__(self) -> None:
        self.ready: asyncio.Future[_Value] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None] | None = None
        self.wanted = True
        self.lost_because: str | None = None
        self.ending = asyncio.Event()
        self.idle: asyncio.TimerHandle | None = None

    def lose(self, why: str) -> None:
        """End the run because what is open has ended by itself."""
        if not self.ending.is_set():
            self.lost_because = why
            self.ending.set()

    def end(self) -> None:
        """End the run because it is not wanted any more."""
        if not self.ending.is_set():
            self.wanted = False
            self.ending.set()
        if not self.ready.done() and self.task is not None:
            self.task.cancel()


class OnDemand(Generic[_Value]):
    """Opens one thing, for all who use it at the same time."""

    def __init__(
        self,
        open: Open[_Value],
        *,
        limits: RestartLimits | None = None,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open = open
        self._limits = limits or RestartLimits()
        self._ticks = ticks
        self._run: _Run[_Value] | None = None
        self._users = 0
        self._failures = 0
        self._failed_at = 0.0
        self._last_error = ""
        self._closed = False

    @property
    def state(self) -> State:
        """Whether it is open."""
        run = self._run
        if run is not None and not run.ending.is_set():
            return "open" if run.ready.done() else "opening"
        return "failed" if self._failures else "closed"

    @property
    def users(self) -> int:
        """How many use it now, or wait for it."""
        return self._users

    @property
    def last_error(self) -> str:
        """Why it failed or was lost last, empty if that has not happened."""
        return self._last_error

    @asynccontextmanager
    async def use(self) -> AsyncIterator[_Value]:
        """Open it unless it is open, and keep it open within the block; raise Unavailable."""
        self._users += 1
        try:
            run = await self._running()
            if run.idle is not None:
                run.idle.cancel()
            yield run.ready.result()
        finally:
            self._users -= 1
            if self._run is not None:
                self._close_when_idle(self._run)

    async def close(self) -> None:
        """Close it for good, even while it is used or opened."""
        self._closed = True
        await self.reset()

    async def reset(self) -> None:
        """Close it, even while it is used; the next use opens it again, without a pause."""
        self._failures = 0
        if self._run is not None:
            self._run.end()
            await _end_of(self._run)

    async def _running(self) -> _Run[_Value]:
        """Return a run that is ready; several callers wait for the same one."""
        while True:
            if self._closed:
                raise Unavailable("it has been closed")
            run = self._run
            if run is None:
                self._require_pause_over()
                run = self._run = _Run()
                # It is opened for all who use it, and not refused with the call that came first.
                with looked_at_again(None):
                    run.task = asyncio.create_task(self._hold(run))
            if run.ending.is_set():
                # Two at a time could get in each other's way.
                await _end_of(run)
                continue
            await asyncio.wait((run.ready,))
            if run.ready.cancelled():
                continue
            run.ready.result()  # raises Unavailable
            if not run.ending.is_set():
                return run

    def _require_pause_over(self) -> None:
        left = self._failed_at + self._limits.pause_after(self._failures) - self._ticks()
        if self._failures and left > 0:
            raise Unavailable(
                f"it has failed {self._failures} times in a row, and is tried again in "
                f"{math.ceil(left)} s; the last time, {self._last_error}"
            )

    async def _hold(self, run: _Run[_Value]) -> None:
        """Open it, and close it when the run ends; note how that went."""
        opened_at: float | None = None
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._limits.handshake) as limit:
                    value = await stack.enter_async_context(self._open(run.lose))
                opened_at = self._ticks()
                run.ready.set_result(value)
                if not self._users:  # whoever wanted it has gone
                    self._close_when_idle(run)
                await run.ending.wait()
        except asyncio.CancelledError:
            if run.wanted:
                raise
        except Exception as error:  # noqa: BLE001 - a program from elsewhere may fail in any way
            late = opened_at is None and isinstance(error, TimeoutError) and limit.expired()
            run.lose(_late(self._limits.handshake) if late else _text_of(error))
        finally:
            run.ending.set()
            if run.idle is not None:
                run.idle.cancel()
            self._run = None
            self._note(run, opened_at)

    def _note(self, run: _Run[_Value], opened_at: float | None) -> None:
        """Count a failure, and report it to those who wait for the run."""
        now = self._ticks()
        if opened_at is not None and now - opened_at >= self._limits.steady:
            self._failures = 0
        elif run.lost_because is not None:
            self._failures += 1
            self._failed_at = now
        if run.lost_because is not None:
            self._last_error = run.lost_because
        if not run.ready.done():
            if run.lost_because is None:
                run.ready.cancel()
            else:
                run.ready.set_exception(Unavailable(run.lost_because))
                run.ready.exception()  # nobody may be waiting any more

    def _close_when_idle(self, run: _Run[_Value]) -> None:
        """Have a run end in a while; a use until then prevents that."""
        if run.idle is not None:
            run.idle.cancel()
        if not self._users and self._limits.idle is not None and run.ready.done():
            loop = asyncio.get_running_loop()
            run.idle = loop.call_later(self._limits.idle, run.end)


async def _end_of(run: _Run[Any]) -> None:
    """Wait until a run has closed everything; being cancelled ends only the wait."""
    if run.task is not None:
        await asyncio.wait((run.task,))


def _late(seconds: float) -> str:
    return f"it was not ready within {seconds:g} seconds"


def _text_of(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _text_of(error.exceptions[0])
    return str(error) if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"
