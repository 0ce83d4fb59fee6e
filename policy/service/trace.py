"""One tool call as the events of its session: requested, then exactly one of how it ended."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.errors import PermissionDenied, ToolError
from policy.service.service import ToolOutput, ToolService


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
    """The policy, or a person, refused the call."""

    session: str
    tool: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFailed:
    """The call ended in another error; `kind` is its stable name, or `cancelled`."""

    session: str
    tool: str
    kind: str
    message: str


SessionEvent: TypeAlias = ToolCallRequested | ToolResult | ToolCallDenied | ToolCallFailed
Emit: TypeAlias = Callable[[SessionEvent], None]


async def invoke_with_session_trace(
    service: ToolService, emit: Emit, name: str, input: Any, *, session: str
) -> ToolOutput:
    """Call a tool and tell the session of it; an `emit` that fails never breaks the call.

    Bind the service to a caller of the same session before, so that policy and tool know it too.
    """

    def tell(event: SessionEvent) -> None:
        with suppress(Exception):
            emit(event)

    tell(ToolCallRequested(session=session, tool=name, input=input))
    try:
        output = await service.execute(name, input)
    except PermissionDenied as error:
        tell(ToolCallDenied(session=session, tool=name, reason=error.message))
        raise
    except ToolError as error:
        tell(ToolCallFailed(session=session, tool=name, kind=error.kind, message=error.message))
        raise
    except BaseException as error:
        kind = "execution" if isinstance(error, Exception) else "cancelled"
        tell(ToolCallFailed(session=session, tool=name, kind=kind, message=type(error).__name__))
        raise
    tell(ToolResult(session=session, tool=name, output=output))
    return output
