"""Writes exactly one record per call, however it ends, and informs listeners."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from policy.audit import AuditRecord, AuditSink
from policy.model import SENTENCES, Execution, ToolError
from policy.runtime import Clock, utc_now
from policy.service.in_flight import HERE, InFlight, carrying
from policy.service.recording.call_record import (
    Arrival,
    arrival,
    code_of,
    ended,
    record_of,
    start_of,
    tokens_used,
)
from policy.service.recording.events import Events, ToolEnded, ToolStarted
from policy.service.recording.recorder import Recorder
from policy.tools import PassThrough, ToolOutput, ToolService


class ExecAuditLayer(PassThrough):
    """Outside of everything else, so that denials, timeouts and crashes are recorded too.

    With `required`, nothing happens unrecorded: a call whose start could not be written does not
    run, the output of one whose end could not be written is withheld, and no further call runs
    until the sink has stored the pending records. Layers with the same `recorder` share these.
    """

    def __init__(
        self,
        inner: ToolService,
        *,
        sink: AuditSink | None = None,
        required: bool = True,
        recorder: Recorder | None = None,
        events: Events | None = None,
        clock: Clock = utc_now,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(inner)
        self._events = events or Events()
        self._recorder = recorder or Recorder(sink, required=required, events=self._events)
        self._clock = clock
        self._ticks = ticks

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward the call and record how it ended; stamp the output with its latency."""
        call = HERE.get()
        if not isinstance(call, InFlight):
            with carrying(InFlight()):
                return await self.execute(name, input)
        began = self._ticks()
        arrived = self._arrived(call, name, input)
        try:
            self._recorder.require(name)
            await _let_others_go_on(arrived)
            output = await self.inner.execute(name, input)
            await _let_others_go_on(arrived)
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
            record = record_of(
                arrived,
                call,
                latency_ms=latency,
                tokens_used=used,
                reported=output.is_error,
            )
            if self._ended(call, record, None):
                unrecorded = Execution(name, SENTENCES["output-withheld"], code="output-withheld")
                unrecorded.call_id = call.id
                raise unrecorded
        return ended(output, call, latency_ms=latency, tokens_used=used)

    def _arrived(self, call: InFlight, name: str, input: Any) -> Arrival | None:
        """Return what is kept of the call as received, None if nothing records or listens."""
        heard = self._events.heard
        if not heard and not self._recorder.is_kept:
            return None
        arrived = arrival(call, name, input, at=self._clock())
        if self._recorder.keeps_starts:
            recorder = self._recorder
            call.about_to_run = lambda: recorder.start(name, lambda: start_of(arrived, call))
        if heard:
            self._events.publish(
                ToolStarted(
                    call_id=call.id, tool=arrived.asked_tool, caller=call.caller, at=arrived.at
                )
            )
        return arrived

    def _ended(self, call: InFlight, record: AuditRecord, problem: BaseException | None) -> bool:
        """Write the record and inform listeners; return whether to withhold the output."""
        call.about_to_run = None
        kept = self._recorder.keep(record, ran=call.has_begun)
        withheld = not kept and problem is None
        if not self._events.heard:
            return withheld
        self._events.publish(
            ToolEnded(
                call_id=call.id,
                tool=record.asked_tool,
                caller=call.caller,
                record=record,
                outcome="failed" if withheld else record.outcome,
                code="output-withheld" if withheld else code_of(problem, record.outcome),
            )
        )
        return withheld


async def _let_others_go_on(arrived: Arrival | None) -> None:
    """Let other calls have a turn where a large input has just been read for a record, or will be.

    Judging it takes some milliseconds more. Only inputs of which a part is kept are large.
    """
    if arrived is not None and arrived.cut:
        await asyncio.sleep(0)
