"""Ends a tool that takes longer than it may. People answering questions are not on this clock.

Most calls end without waiting for anything, and setting and stopping a clock costs more than the
rest of such a call. So a call takes its first step, up to where it first waits, before a clock is
set for it; what it may take is counted from its beginning all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import CoroutineType
from typing import Any, TypeAlias

from policy.call import EMPTY
from policy.errors import Timeout
from policy.service.in_flight import InFlight, current_call
from policy.service.service import PassThrough, ToolOutput, ToolService

# The seconds a tool may take, for a call on its way; None for one that is not.
SecondsFor: TypeAlias = Callable[[str, InFlight | None], float]


def fixed_limits(default: float, per_tool: Mapping[str, float] = EMPTY) -> SecondsFor:
    """Return a default limit, in seconds, and those of tools that have their own."""
    return lambda tool, call: per_tool.get(tool, default)


class TimeoutLayer(PassThrough):
    """Cancels the inner service when the time of its tool is up.

    Without `step_first` every call has a clock from its beginning; what becomes of a call is the
    same.
    """

    def __init__(
        self, inner: ToolService, seconds_for: SecondsFor, *, step_first: bool = True
    ) -> None:
        super().__init__(inner)
        self._seconds_for = seconds_for
        self._step_first = step_first

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward the call; raise Timeout, with the configured limit, once that has passed."""
        seconds, loop = self._seconds_for(name, current_call()), asyncio.get_running_loop()
        task = asyncio.current_task(loop) if self._step_first else None
        if task is None or seconds <= 0:
            return await self._timed(name, input, seconds)
        cancels, began = task.cancelling(), loop.time()
        running = self.inner.execute(name, input)
        try:
            # Where it ends before it waits, there is nothing to limit.
            rest = _after_first_step(running)
        except StopIteration as ended:
            output: ToolOutput = ended.value
            return output
        clock = _Clock(task, seconds, cancels=cancels, began=began)
        return await clock.limited(rest, name)

    async def _timed(self, name: str, input: Any, seconds: float) -> ToolOutput:
        try:
            async with asyncio.timeout(seconds) as limit:
                return await self.inner.execute(name, input)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise _timeout(name, seconds) from error


class _Clock:
    """The limit of a call that has begun, at `began`, and waits now.

    `cancels` says how often its task was to be cancelled by then.
    """

    __slots__ = ("_began", "_cancels", "_seconds", "_task")

    def __init__(
        self, task: asyncio.Task[Any], seconds: float, *, cancels: int, began: float
    ) -> None:
        self._task = task
        self._seconds = seconds
        self._cancels = cancels
        self._began = began

    async def limited(self, rest: Awaitable[ToolOutput], name: str) -> ToolOutput:
        """Await what is left of the call; raise Timeout once the limit has passed."""
        cancelled: asyncio.CancelledError | None = None
        try:
            async with asyncio.timeout_at(self._began + self._seconds) as limit:
                try:
                    return await rest
                except asyncio.CancelledError as error:
                    cancelled = error
                    raise
        except TimeoutError as error:
            if not limit.expired():
                raise
            if cancelled is None or self._task.cancelling() <= self._cancels:
                raise _timeout(name, self._seconds) from error
        # The first step cancelled the very task it runs in, which no clock undoes.
        raise cancelled


def _timeout(name: str, seconds: float) -> Timeout:
    return Timeout(name, f"{name} took longer than {seconds:g} seconds", seconds=seconds)


def _after_first_step(running: Awaitable[ToolOutput]) -> Awaitable[ToolOutput]:
    """Let a coroutine run until it first waits; raise StopIteration where it ended before."""
    if not isinstance(running, CoroutineType):
        return running
    return _Begun(running, running.send(None))


class _Begun:
    """A coroutine that has begun to wait, to be awaited from there on.

    All that whoever awaits it is told, or tells it, goes through unchanged.
    """

    __slots__ = ("_awaited", "_is_told", "_running")

    def __init__(self, running: CoroutineType[Any, Any, ToolOutput], awaited: object) -> None:
        self._running = running
        self._awaited = awaited
        self._is_told = False

    def __await__(self) -> _Begun:
        return self

    def __iter__(self) -> _Begun:
        return self

    def __next__(self) -> object:
        if self._is_told:
            return self._running.send(None)
        self._is_told = True
        awaited, self._awaited = self._awaited, None
        return awaited

    def send(self, value: object) -> object:
        """Go on with what was waited for."""
        return self.__next__() if value is None else self._running.send(value)

    def throw(self, *error: Any) -> object:
        """Go on with an error in place of what was waited for."""
        return self._running.throw(*error)

    def close(self) -> None:
        """End the coroutine where it waits."""
        self._running.close()
