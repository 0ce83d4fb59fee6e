"""Writes exactly one record a call, whatever becomes of it, and tells who listens."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from inspect import isawaitable, iscoroutine
from typing import Any

from policy.audit import AuditRecord, AuditSink, RecordDraft
from policy.codes import SENTENCES
from policy.errors import Execution, PermissionDenied, ToolError
from policy.service.events import Events, ToolEnded, ToolStarted
from policy.service.in_flight import HERE, InFlight, carrying
from policy.service.recording import arrival, code_of, ended, record_of, tokens_used
from policy.service.service import PassThrough, ToolOutput, ToolService
from policy.service.world import Clock, utc_now

_MOST_OWED = 1_000


class ExecAuditLayer(PassThrough):
    """Outside of everything else, so that denials, timeouts and crashes are recorded too.

    With `required`, nothing happens unrecorded: the output of a call whose record could not be
    written is withheld, and no further call is run until the sink has taken what it is owed.
    """

    def __init__(
        self,
        inner: ToolService,
        *,
        sink: AuditSink | None = None,
        required: bool = True,
        events: Events | None = None,
        clock: Clock = utc_now,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(inner)
        self._sink = sink
        self._required = required
        self._events = events or Events()
        self._clock = clock
        self._ticks = ticks
        self._owed: deque[AuditRecord] = deque()

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward the call and record how it ended; stamp the output with its latency."""
        call = HERE.get()
        if not isinstance(call, InFlight):
            with carrying(InFlight()):
                return await self.execute(name, input)
        began = self._ticks()
        arrived = self._arrived(call, name, input)
        try:
            if self._owed:
                self._require_sink(name)
            output = await self.inner.execute(name, input)
        except BaseException as error:
            if isinstance(error, ToolError):
                error.call_id = call.id
            if arrived is not None:
                latency = round((self._ticks() - began) * 1000)
                used = tokens_used(call, None)
                record = record_of(
                    arrived, call, latency_ms=latency, tokens_used=used, problem=error
                )
                self._ended(call, record, error)
            raise
        latency, used = round((self._ticks() - began) * 1000), tokens_used(call, output)
        if arrived is not None:
            record = record_of(arrived, call, latency_ms=latency, tokens_used=used)
            if self._ended(call, record, None):
                unrecorded = Execution(name, SENTENCES["output-withheld"], code="output-withheld")
                unrecorded.call_id = call.id
                raise unrecorded
        return ended(output, call, latency_ms=latency, tokens_used=used)

    def _arrived(self, call: InFlight, name: str, input: Any) -> RecordDraft | None:
        """Return what is kept of the call as it came, None where nobody wants to know of it."""
        heard = self._events.heard
        if not heard and self._sink is None:
            return None
        arrived = arrival(call, name, input, at=self._clock())
        if heard:
            self._events.tell(
                ToolStarted(
                    call_id=call.id, tool=arrived.asked_tool, caller=call.caller, at=arrived.at
                )
            )
        return arrived

    def _ended(self, call: InFlight, record: AuditRecord, problem: BaseException | None) -> bool:
        """Write the record and tell who listens; return whether the output is to be withheld."""
        withheld = not self._keep(record) and problem is None
        if not self._events.heard:
            return withheld
        self._events.tell(
            ToolEnded(
                call_id=call.id,
                tool=record.asked_tool,
                caller=call.caller,
                record=record,
                outcome="failed" if withheld else record.outcome,
                code="output-withheld" if withheld else code_of(problem),
            )
        )
        return withheld

    def _require_sink(self, name: str) -> None:
        """Refuse the call while the sink does not take what it is owed."""
        if self._required and not self._pay():
            raise PermissionDenied(name, SENTENCES["cannot-record"], code="cannot-record")

    def _keep(self, record: AuditRecord) -> bool:
        """Write a record, and tell whether the call may count as recorded."""
        if self._sink is None:
            return True
        owes = bool(self._owed)
        if not owes and self._is_written(record):
            return True
        # While the sink fails nothing runs, so what there is no room for are refusals.
        if len(self._owed) < _MOST_OWED:
            self._owed.append(record)
        return (owes and self._pay()) or not self._required

    def _pay(self) -> bool:
        """Write what could not be written yet, oldest first; tell whether nothing is left."""
        while self._sink is not None and self._owed:
            if not self._is_written(self._owed[0]):
                return False
            self._owed.popleft()
        return True

    def _is_written(self, record: AuditRecord) -> bool:
        """Hand a record to the sink; tell whether it took it."""
        try:
            if self._sink is not None:
                write: Callable[[AuditRecord], object] = self._sink.write
                _require_kept(write(record))
        except Exception as error:  # noqa: BLE001 - any failure of a sink means: not recorded
            self._events.failing_sink(error)
            return False
        return True


def _require_kept(answer: object) -> None:
    """Raise TypeError for an answer that nobody waits for: the record may never be kept."""
    if answer is None or not isawaitable(answer):
        return
    if iscoroutine(answer):
        answer.close()
    raise TypeError("the `write` of the audit sink is async")
