"""Writes records to the sink; where records are required, nothing runs while one is missing.

One recorder belongs to one service: while one part could not write a record, no other part runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from inspect import isawaitable, iscoroutine

from policy.audit import AuditRecord, AuditSink, StartSink
from policy.model import SENTENCES, PermissionDenied
from policy.service.recording.events import Events

# How many refusals are kept; and calls that ran, if these may run unrecorded.
_MOST_OWED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owed:
    """A record that could not be written yet, and whether its call has run."""

    record: AuditRecord
    ran: bool


class Recorder:
    """Writes records in their order. With `required`, nothing runs while one is pending.

    Refusals and calls that ran are kept separately, so that refusals never displace calls that
    ran. Of the latter none is dropped while records are required: there are no more than were
    running when the sink failed.
    """

    def __init__(
        self, sink: AuditSink | None = None, *, required: bool = True, events: Events | None = None
    ) -> None:
        self._sink = sink
        given: object = sink
        self._starts = given if isinstance(given, StartSink) else None
        self._required = required
        self._events = events or Events()
        self._owed: deque[_Owed] = deque()
        self._places = {True: 0, False: 0}

    @property
    def is_kept(self) -> bool:
        """Whether there is a sink."""
        return self._sink is not None

    @property
    def keeps_starts(self) -> bool:
        """Whether the sink also records the starts of calls."""
        return self._starts is not None

    def close_interrupted(self) -> None:
        """Have calls of ended processes closed; those that fail now are closed later."""
        if self._starts is not None:
            self._is_done(self._starts.close_interrupted)

    def require(self, tool: str) -> None:
        """Raise PermissionDenied while the sink does not accept the pending records."""
        if self._owed and self._required and not self._pay():
            raise PermissionDenied(tool, SENTENCES["cannot-record"], code="cannot-record")

    def start(self, tool: str, record: Callable[[], AuditRecord]) -> None:
        """Write that a call is about to run; raise PermissionDenied if that fails."""
        self.require(tool)
        starts = self._starts
        if starts is None:
            return
        kept = self._is_done(lambda: starts.write_start(record(), durable=self._required))
        if self._required and not kept:
            raise PermissionDenied(tool, SENTENCES["cannot-record"], code="cannot-record")

    def keep(self, record: AuditRecord, *, ran: bool) -> bool:
        """Write a record, and return whether the call counts as recorded."""
        if self._sink is None:
            return True
        owes = bool(self._owed)
        if not owes and self._is_written(record):
            return True
        if (ran and self._required) or self._places[ran] < _MOST_OWED:
            self._owed.append(_Owed(record=record, ran=ran))
            self._places[ran] += 1
        return (owes and self._pay()) or not self._required

    def _pay(self) -> bool:
        """Write the pending records, oldest first; return whether none is left."""
        while self._owed:
            oldest = self._owed[0]
            if not self._is_written(oldest.record):
                return False
            self._owed.popleft()
            self._places[oldest.ran] -= 1
        return True

    def _is_written(self, record: AuditRecord) -> bool:
        sink = self._sink
        return sink is None or self._is_done(lambda: sink.write(record))

    def _is_done(self, write: Callable[[], object]) -> bool:
        """Call the sink; return whether it succeeded."""
        try:
            _require_kept(write())
        except Exception as error:  # noqa: BLE001 - any failure of a sink means: not recorded
            self._events.failing_sink(error)
            return False
        return True


def _require_kept(answer: object) -> None:
    """Raise TypeError for an awaitable, which nothing awaits: the record may never be written."""
    if answer is None or not isawaitable(answer):
        return
    if iscoroutine(answer):
        answer.close()
    raise TypeError("the `write` of the audit sink is async")
