"""Stops denied calls, and asks for approval of exactly the call that would run."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import Any

from policy.model import SUCCEEDED, CallOutput, Outcome, PermissionDenied, Verdict, thaw
from policy.service.asking.asking import Asking
from policy.service.host_objects import AnyApprover
from policy.service.in_flight import HERE, ArrivedCall, InFlight, carrying
from policy.service.judging.adjudicator import Adjudicator, Judgement, adjudicator_within
from policy.service.judging.classification import SmartFilter
from policy.service.layers.progress_reports import ToldMessages, reporting
from policy.service.sessions import (
    MemorySessionLog,
    SessionLog,
    SessionLogUnusable,
    outcome_of,
    told_by,
    told_by_error,
)
from policy.tools import PassThrough, ToolOutput, ToolService

_LOG = logging.getLogger(__name__)
# How often a call is judged, while other calls of its session change what it is decided by.
_MOST_JUDGEMENTS = 8


class PermissionLayer(PassThrough):
    """Enforces the judgement of the current call.

    With no judgement made before, it judges by itself: without a policy store by the filter set on
    it, together with the rules of a ContextRuleLayer further in, and without a filter everything is
    denied.
    """

    def __init__(
        self,
        inner: ToolService,
        *,
        adjudicator: Adjudicator | None = None,
        asking: Asking | None = None,
        sessions: SessionLog | None = None,
    ) -> None:
        super().__init__(inner)
        self.adjudicator = adjudicator or adjudicator_within(inner) or Adjudicator()
        self._asking = asking or Asking()
        self._sessions = MemorySessionLog() if sessions is None else sessions

    def set_smart_filter(self, smart_filter: SmartFilter | None) -> None:
        """Replace the filter, from the next call on."""
        self.adjudicator.guards.set_smart_filter(smart_filter)

    def set_approver(self, approver: AnyApprover | None) -> None:
        """Replace the approver, from the next call on."""
        self.adjudicator.guards.set_approver(approver)

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward an allowed or approved call; raise PermissionDenied for any other."""
        call = HERE.get()
        if not isinstance(call, InFlight):
            with carrying(InFlight()):
                return await self.execute(name, input)
        judgement = call.judgement
        if judgement is None or judgement.by is not self.adjudicator:
            judgement = await self.adjudicator.judge(name, input, call.caller)
        judgement, release = await self._released(call, judgement)
        call.permitted = True
        judged = judgement.decision.call
        messages = ToldMessages()
        try:
            with reporting(call, messages.noting) if judgement.keeps_output else nullcontext():
                output = await self.inner.execute(judged.tool, judged.input)
        except BaseException as error:
            told = told_by_error(error, messages.texts) if judgement.keeps_output else None
            self._finish(release, outcome_of(error) if call.has_begun else None, told)
            raise
        told = told_by(output, messages.texts) if judgement.keeps_output else None
        self._finish(release, "failed" if output.is_error else SUCCEEDED, told)
        return output

    async def _released(self, call: InFlight, judgement: Judgement) -> tuple[Judgement, Any]:
        """Return the judgement to run by, once nothing has changed what it was decided by."""
        for _ in range(_MOST_JUDGEMENTS):
            call.judgement = judgement
            if judgement.error is not None:
                raise judgement.error
            raw = call.raw or _as_asked(judgement)
            if judgement.decision.verdict is Verdict.ASK:
                call.judgement = judgement = await self._asking.settle(
                    call, judgement, self.adjudicator, raw
                )
            release = self._release(call, judgement)
            if release is not None:
                return judgement, release
            judgement = await self.adjudicator.judge(raw.tool, raw.input, call.caller)
        tool = judgement.decision.call.tool
        why = "other calls of the session changed what this one is decided by"
        raise PermissionDenied(tool, why, decision=judgement.decision, code="changed-meanwhile")

    def _release(self, call: InFlight, judgement: Judgement) -> Any:
        """Note the call as running, and charge it; None if it has to be judged again."""
        try:
            return self._sessions.release(
                call.caller,
                judgement.released(call.id),
                judged_by=judgement.history_read,
                charges=judgement.decision.charges,
            )
        except SessionLogUnusable as error:
            _LOG.error("a call is denied: %s", error)
            decision = judgement.decision
            why = "its history cannot be written"
            raise PermissionDenied(
                decision.call.tool, why, decision=decision, code="history-unavailable"
            ) from error

    def _finish(self, release: Any, outcome: Outcome | None, told: CallOutput | None) -> None:
        """Note how a call ended; one that cannot be noted counts as running."""
        try:
            self._sessions.finish(release, outcome, told)
        except SessionLogUnusable as error:
            _LOG.error("how a call ended is not noted: %s", error)


def _as_asked(judgement: Judgement) -> ArrivedCall:
    asked = judgement.decision.asked
    return ArrivedCall(tool=asked.tool, input=thaw(asked.input))
