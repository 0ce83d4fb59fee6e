"""Passes the record of a finished call to the code that made the call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from policy.audit import AuditRecord
from policy.service import ToolEnded, ToolEvent


class FinishedCall:
    """The record of one call, None until it has ended."""

    def __init__(self) -> None:
        self.record: AuditRecord | None = None


_CURRENT: ContextVar[FinishedCall | None] = ContextVar("placet_finished_call", default=None)


@contextmanager
def record_of_call() -> Iterator[FinishedCall]:
    """Return an object that will hold the record of the call that is made within the block."""
    finished = FinishedCall()
    token = _CURRENT.set(finished)
    try:
        yield finished
    finally:
        _CURRENT.reset(token)


def keep(event: ToolEvent) -> None:
    """Listen to a service: pass each record to the block that made its call.

    A tool may make calls itself; they end before the call that they belong to, whose record is
    therefore the last.
    """
    finished = _CURRENT.get()
    if finished is not None and isinstance(event, ToolEnded):
        finished.record = event.record
