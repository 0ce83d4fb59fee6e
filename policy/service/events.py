"""What happens to calls, told to those who listen and to the log `tool.call`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from policy.audit import AuditRecord
from policy.call import Caller
from policy.diagnostics import visible

_LOG = logging.getLogger("tool.call")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A call has arrived."""

    call_id: str
    tool: str
    caller: Caller
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded:
    """A call has ended; its record says how."""

    call_id: str
    tool: str
    caller: Caller
    record: AuditRecord


ToolEvent: TypeAlias = ToolStarted | ToolEnded
Listener: TypeAlias = Callable[[ToolEvent], None]


class Events:
    """Those who listen to one service. A listener that fails changes nothing for the call."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` of every event from now on; return what ends that."""
        self._listeners = (*self._listeners, listener)

        def end() -> None:
            self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return end

    def tell(self, event: ToolEvent) -> None:
        """Log an event and pass it on."""
        _log(event)
        for listener in self._listeners:
            with suppress(Exception):
                listener(event)

    def failing_sink(self, error: Exception) -> None:
        """Log that a record could not be written."""
        _LOG.error("record not written: %s", type(error).__name__)


def _log(event: ToolEvent) -> None:
    if not _LOG.isEnabledFor(logging.INFO):
        return
    tool = visible(event.tool, 120)
    match event:
        case ToolStarted():
            _LOG.info("start %s %s", tool, event.call_id)
        case ToolEnded(record=record) if record.outcome == "ok":
            _LOG.info("ok %s %s %d ms", tool, event.call_id, record.latency_ms)
        case ToolEnded(record=record):
            _LOG.info("err %s %s %d ms %s", tool, event.call_id, record.latency_ms, record.outcome)
