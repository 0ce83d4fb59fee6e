"""Events of calls, for listeners and the log `tool.call`.

Listeners get exactly two events per call: `stream.tool_start`, then `stream.tool_end`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeAlias, assert_never

from policy.audit import AuditRecord, Outcome
from policy.diagnostics import visible
from policy.model import Caller, Code
from policy.runtime import Listeners

_LOG = logging.getLogger("tool.call")
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A call has arrived."""

    name: ClassVar[str] = "stream.tool_start"

    call_id: str
    tool: str
    caller: Caller
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded:
    """A call has ended, as its caller sees it; its record has the details.

    `outcome` differs from the record's if an output is withheld because the record could not be
    written: then it is `failed`.
    """

    name: ClassVar[str] = "stream.tool_end"

    call_id: str
    tool: str
    caller: Caller
    record: AuditRecord
    outcome: Outcome
    code: Code | None = None

    @property
    def latency_ms(self) -> int:
        """The milliseconds from the call's arrival to its end."""
        return self.record.latency_ms

    @property
    def tokens_used(self) -> int | None:
        """The tokens that the tool reports."""
        return self.record.tokens_used

    @property
    def source(self) -> str | None:
        """Where the tool comes from; None if there is no tool."""
        return self.record.source


ToolEvent: TypeAlias = ToolStarted | ToolEnded
Listener: TypeAlias = Callable[[ToolEvent], None]


class Events:
    """The listeners of one service. A listener that fails does not affect the call."""

    def __init__(self) -> None:
        self._listeners: Listeners[ToolEvent] = Listeners()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` on every event from now on; return a function that ends that."""
        return self._listeners.add(listener)

    @property
    def heard(self) -> bool:
        """Whether there are listeners, or the log is enabled."""
        return self._listeners.are_there or _LOG.isEnabledFor(logging.INFO)

    def publish(self, event: ToolEvent) -> None:
        """Log an event and pass it on."""
        with suppress(Exception):
            _log(event)
        self._listeners.notify(event)

    def failing_sink(self, error: Exception) -> None:
        """Log that a record could not be written."""
        _LOG.error("record not written: %s", type(error).__name__)


def as_json(event: ToolEvent) -> dict[str, Any]:
    """Return an event as a JSON object: nothing of the input, and nothing of the output."""
    shown = {
        "event": event.name,
        "call_id": event.call_id,
        "tool": visible(event.tool, _LONGEST_NAME),
        "agent": visible(event.caller.agent, _LONGEST_NAME),
        "session": visible(event.caller.session, _LONGEST_NAME),
    }
    match event:
        case ToolStarted():
            return {**shown, "at": event.at.isoformat(timespec="milliseconds")}
        case ToolEnded():
            return {
                **shown,
                "outcome": event.outcome,
                "code": event.code,
                "latency_ms": event.latency_ms,
                "tokens_used": event.tokens_used,
                "source": event.source,
            }
        case _:
            assert_never(event)


def _log(event: ToolEvent) -> None:
    if not _LOG.isEnabledFor(logging.INFO):
        return
    tool = visible(event.tool, _LONGEST_NAME)
    match event:
        case ToolStarted():
            _LOG.info("start %s %s", tool, event.call_id)
        case ToolEnded(outcome="ok"):
            _LOG.info("ok %s %s %s", tool, event.call_id, _measured(event))
        case ToolEnded():
            code = event.code or event.outcome
            _LOG.info(
                "err %s %s %s %s %s", tool, event.call_id, _measured(event), event.outcome, code
            )


def _measured(event: ToolEnded) -> str:
    """Return time, tokens and source of a call, as far as they are known."""
    parts = [f"{event.latency_ms} ms"]
    if event.tokens_used is not None:
        parts.append(f"{event.tokens_used} tokens")
    if event.source is not None:
        parts.append(event.source)
    return " ".join(parts)
