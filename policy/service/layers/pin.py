"""Reads and judges a call once, by one generation; all layers use that judgement."""

from __future__ import annotations

from typing import Any

from policy.model import Execution, PermissionDenied, Verdict
from policy.service.in_flight import HERE, ArrivedCall, InFlight, carrying
from policy.service.judging.adjudicator import Adjudicator
from policy.tools import PassThrough, ToolOutput, ToolService

# A tool may call tools that call tools; this limits one that leads back to itself.
DEEPEST = 16


class PinLayer(PassThrough):
    """Adds the judgement to the current call, and forwards the call as it would run.

    The name is repaired, the input validated and frozen here, so that everything further in, the
    approver included, sees what would run. An invalid call ends here.
    """

    def __init__(self, inner: ToolService, adjudicator: Adjudicator) -> None:
        super().__init__(inner)
        self._adjudicator = adjudicator

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Judge a raw call; raise NotFound or ValidationFailed if it is not valid."""
        call = HERE.get()
        if not isinstance(call, InFlight):
            with carrying(InFlight()):
                return await self.execute(name, input)
        if call.depth > DEEPEST:
            raise Execution(name, f"more than {DEEPEST} nested calls of tools")
        judgement = await self._adjudicator.judge(name, input, call.caller)
        call.judgement = judgement
        # The permission layer raises the error of a denial.
        if judgement.error is not None and not isinstance(judgement.error, PermissionDenied):
            raise judgement.error
        decision = judgement.decision
        if decision.verdict is Verdict.ASK:
            # Once people have answered, the received call is judged again.
            call.raw = ArrivedCall(tool=name, input=input)
        judged = decision.call
        return await self.inner.execute(judged.tool, judged.input)
