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
    """The tool returned an output."""

    session: str
    tool: str
    output: ToolOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDenied:
    """The policy, or a person, refused the call; `reason` is the message to the model."""

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
    """Stores the events of sessions. `emit` is a plain function that does not block, or async."""

    def emit(self, event: SessionEvent) -> Awaitable[object] | None:
        """Store one event."""
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
    """Call a tool and report it to the session: the request, then once how it ended.

    Policy and tool see the call as one of this session: a governed service is bound to its caller
    in it. An event that the session does not accept within `emit_seconds` is dropped, and never
    affects the call. An event that is being sent is sent to the end, cancelled or not.
    """
    sender = _EventSender(session_svc, emit_seconds)
    service = _within(tool_svc, session)
    with _scoped(session):
        try:
            await sender.send(ToolCallRequested(session=session, tool=name, input=input))
            output = await service.execute(name, input)
        except GeneratorExit:
            # Closed in the middle: nothing may be awaited any more.
            sender.begin(_cancelled(session, name, "GeneratorExit"))
            raise
        except BaseException as error:
            await sender.send(_end(session, name, error))
            raise
        await sender.send(ToolResult(session=session, tool=name, output=output))
    return output


def _end(session: str, name: str, error: BaseException) -> SessionEvent:
    """Return the event of a call that ended without an output."""
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
        # The call may be closed from another context than it started in.
        with suppress(ValueError):
            _SESSION.reset(token)


# Keeps tasks alive that still send events after their call was cancelled.
_BEING_TOLD: set[asyncio.Task[None]] = set()


class _EventSender:
    """Sends the events of one call to its session, in their order."""

    def __init__(self, session: SessionService, seconds: float) -> None:
        self._session = session
        self._seconds = seconds
        self._last: asyncio.Task[None] | None = None

    async def send(self, event: SessionEvent) -> None:
        """Send one event; raises only if cancelled, and the event is sent even then."""
        # An earlier event that is still being sent has its time first, then this one.
        turns = 1 if self._last is None or self._last.done() else 2
        task = self.begin(event)
        if task is None:
            return
        await asyncio.wait({task}, timeout=turns * self._seconds)
        if not task.done():
            task.cancel()

    def begin(self, event: SessionEvent) -> asyncio.Task[None] | None:
        """Start sending an event; return the task that completes it, if any."""
        try:
            left = self._session.emit(event)
        except (Exception, asyncio.CancelledError):  # noqa: BLE001 - the session's failure alone
            return None
        if not inspect.isawaitable(left):
            return None
        try:
            task = asyncio.ensure_future(self._taken(left, self._last))
        except RuntimeError:
            # No event loop runs any more, so nothing can be awaited.
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
