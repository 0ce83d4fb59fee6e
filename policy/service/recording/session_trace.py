"""One tool call as events of its session: requested, then exactly one way of ending."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from policy.model import Code, PermissionDenied, ToolError
from policy.service.facade import GovernedService
from policy.tools import ToolOutput, ToolService


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRequested:
    """A session wants to call a tool."""

    session: str
    tool: str
    input: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The tool gave an output."""

    session: str
    tool: str
    output: ToolOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDenied:
    """The policy, or a person, refused the call; `reason` is what the model is told."""

    session: str
    tool: str
    code: Code
    reason: str
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFailed:
    """The call ended in another error; `kind` is its stable name, or `cancelled`."""

    session: str
    tool: str
    kind: str
    code: Code
    message: str
    call_id: str | None = None


SessionEvent: TypeAlias = ToolCallRequested | ToolResult | ToolCallDenied | ToolCallFailed


class SessionService(Protocol):
    """Keeps the events of sessions. `emit` is a plain function that does not block, or async."""

    def emit(self, event: SessionEvent) -> Awaitable[object] | None:
        """Take one event."""
        ...


_SESSION: ContextVar[str | None] = ContextVar("placet_session", default=None)
_SECONDS = 5.0


def current_session() -> str | None:
    """Return the session whose call is being traced in this task, None outside of one."""
    return _SESSION.get()


async def invoke_with_session_trace(
    tool_svc: ToolService,
    session_svc: SessionService,
    name: str,
    input: Any,
    *,
    session: str,
    emit_seconds: float = _SECONDS,
) -> ToolOutput:
    """Call a tool and tell the session of it: what was requested, then once how it ended.

    Policy and tool see the call as one of this session: a governed service is bound to its caller
    in it. An event that the session does not take within `emit_seconds` is given up, and never
    changes what becomes of the call. One that has begun to be told is told, cancelled or not.
    """
    telling = _Telling(session_svc, emit_seconds)
    service = _within(tool_svc, session)
    with _scoped(session):
        try:
            await telling.tell(ToolCallRequested(session=session, tool=name, input=input))
            output = await service.execute(name, input)
        except GeneratorExit:
            # Thrown away in the middle: nothing may be awaited any more.
            telling.begin(_cancelled(session, name, "GeneratorExit"))
            raise
        except BaseException as error:
            await telling.tell(_end(session, name, error))
            raise
        await telling.tell(ToolResult(session=session, tool=name, output=output))
    return output


def _end(session: str, name: str, error: BaseException) -> SessionEvent:
    """Return the event of a call that ended in no output."""
    if isinstance(error, PermissionDenied):
        return ToolCallDenied(
            session=session,
            tool=name,
            code=error.code,
            reason=error.message,
            call_id=error.call_id,
        )
    if isinstance(error, ToolError):
        return ToolCallFailed(
            session=session,
            tool=name,
            kind=error.kind,
            code=error.code,
            message=error.message,
            call_id=error.call_id,
        )
    if not isinstance(error, Exception):
        return _cancelled(session, name, type(error).__name__)
    return ToolCallFailed(
        session=session,
        tool=name,
        kind="execution",
        code="tool-error",
        message=type(error).__name__,
    )


def _cancelled(session: str, name: str, how: str) -> ToolCallFailed:
    return ToolCallFailed(
        session=session, tool=name, kind="cancelled", code="cancelled", message=how
    )


def _within(service: ToolService, session: str) -> ToolService:
    if isinstance(service, GovernedService) and service.caller.session != session:
        return service.bound_to(replace(service.caller, session=session))
    return service


@contextmanager
def _scoped(session: str) -> Iterator[None]:
    token = _SESSION.set(session)
    try:
        yield
    finally:
        # Where the call is thrown away, it may be so from another context than it began in.
        with suppress(ValueError):
            _SESSION.reset(token)


# What is still being told belongs to nobody else once its call was cancelled.
_BEING_TOLD: set[asyncio.Task[None]] = set()


class _Telling:
    """The events of one call on their way to its session, in their order."""

    def __init__(self, session: SessionService, seconds: float) -> None:
        self._session = session
        self._seconds = seconds
        self._last: asyncio.Task[None] | None = None

    async def tell(self, event: SessionEvent) -> None:
        """Tell one event; raises only if cancelled, and the event is told all the same."""
        # An earlier event that is still being told has its time first, then this one its own.
        turns = 1 if self._last is None or self._last.done() else 2
        task = self.begin(event)
        if task is None:
            return
        await asyncio.wait({task}, timeout=turns * self._seconds)
        if not task.done():
            task.cancel()

    def begin(self, event: SessionEvent) -> asyncio.Task[None] | None:
        """Hand one event over; return what is still to be done about it."""
        try:
            left = self._session.emit(event)
        except (Exception, asyncio.CancelledError):  # noqa: BLE001 - the session's failure alone
            return None
        if not inspect.isawaitable(left):
            return None
        try:
            task = asyncio.ensure_future(self._taken(left, self._last))
        except RuntimeError:
            # No loop runs any more, so nothing that waits can be told.
            if inspect.iscoroutine(left):
                left.close()
            return None
        self._last = task
        _BEING_TOLD.add(task)
        task.add_done_callback(_BEING_TOLD.discard)
        return task

    async def _taken(self, left: Awaitable[object], before: asyncio.Task[None] | None) -> None:
        try:
            if before is not None:
                await asyncio.wait({before}, timeout=self._seconds)
            with suppress(Exception):
                async with asyncio.timeout(self._seconds):
                    await left
        finally:
            if inspect.iscoroutine(left):
                left.close()
