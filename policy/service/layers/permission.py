"""Stops denied calls, and asks for approval of exactly the call that would run."""

from __future__ import annotations

from typing import Any

from policy.model import Verdict, thaw
from policy.service.asking.asking import Asking
from policy.service.host_objects import AnyApprover
from policy.service.in_flight import HERE, ArrivedCall, InFlight, carrying
from policy.service.judging.adjudicator import Adjudicator, adjudicator_within
from policy.service.judging.classification import SmartFilter
from policy.tools import PassThrough, ToolOutput, ToolService


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
    ) -> None:
        super().__init__(inner)
        self.adjudicator = adjudicator or adjudicator_within(inner) or Adjudicator()
        self._asking = asking or Asking()

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
            call.judgement = judgement
        if judgement.error is not None:
            raise judgement.error
        if judgement.decision.verdict is Verdict.ASK:
            raw = call.raw or ArrivedCall(tool=name, input=thaw(input))
            call.judgement = judgement = await self._asking.settle(
                call, judgement, self.adjudicator, raw
            )
        call.permitted = True
        judged = judgement.decision.call
        return await self.inner.execute(judged.tool, judged.input)
