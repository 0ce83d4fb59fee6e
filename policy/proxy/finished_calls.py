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


_HERE: ContextVar[FinishedCall | None] = ContextVar("placet_ending", default=None)


@contextmanager
def record_of_call() -> Iterator[FinishedCall]:
    """Give what will hold the record of the call that is made within the block."""
    mine = FinishedCall()
    token = _HERE.set(mine)
    try:
        yield mine
    finally:
        _HERE.reset(token)


def keep(event: ToolEvent) -> None:
    """Listen to a service: hand each record to the block its call was made in.

    A tool may make calls of its own; they end before the call they belong to.
    """
    here = _HERE.get()
    if here is not None and isinstance(event, ToolEnded):
        here.record = event.record
