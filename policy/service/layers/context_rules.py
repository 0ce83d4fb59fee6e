"""Forwards the call as changed by the context rules of the policy and the host application."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policy.model import PermissionDenied, Verdict
from policy.service.host_objects import AnyContextRule
from policy.service.in_flight import HERE, InFlight, carrying
from policy.service.judging.adjudicator import Adjudicator
from policy.service.judging.classification import Allow
from policy.service.judging.guards import Guards
from policy.tools import PassThrough, ToolOutput, ToolService


class ContextRuleLayer(PassThrough):
    """Decides nothing for a judged call, whose rules were evaluated before.

    Used alone, it applies the rules set on it to each call; without any it forwards everything.
    """

    def __init__(self, inner: ToolService, *, adjudicator: Adjudicator | None = None) -> None:
        super().__init__(inner)
        self._adjudicator = adjudicator or Adjudicator()

    def set_rules(self, rules: Iterable[AnyContextRule]) -> None:
        """Replace all rules, from the next call on."""
        self._adjudicator.guards.set_rules(rules)

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward the call as judged; raise PermissionDenied if a rule refuses it."""
        call = HERE.get()
        if not isinstance(call, InFlight):
            return await self._alone(name, input, InFlight())
        judgement = call.judgement
        if judgement is None:
            return await self._alone(name, input, call)
        judged = judgement.decision.call
        return await self.inner.execute(judged.tool, judged.input)

    async def _alone(self, name: str, input: Any, call: InFlight) -> ToolOutput:
        rules = Guards(smart_filter=_Everything(), rules=self._adjudicator.guards.current.rules)
        judgement = await Adjudicator.fixed(rules).judge(name, input, call.caller)
        if judgement.error is not None:
            raise judgement.error
        if judgement.decision.verdict is not Verdict.ALLOW:
            raise PermissionDenied(name, "a context rule did not allow it")
        judged = judgement.decision.call
        call.judgement, call.permitted = judgement, True
        with carrying(call):
            return await self.inner.execute(judged.tool, judged.input)


class _Everything:
    """The filter of a layer that has none: rules only restrict, so something must grant."""

    def classify(self, name: str, input: object) -> Allow:
        return Allow()
