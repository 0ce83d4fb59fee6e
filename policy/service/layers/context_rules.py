"""Forwards the call as changed by the context rules of the policy and the host application.

What comes back is redacted as the policy says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policy.model import PermissionDenied, Verdict
from policy.service.host_objects import AnyContextRule
from policy.service.in_flight import HERE, InFlight, carrying
from policy.service.judging.adjudicator import Adjudicator, Judgement, adjudicator_within
from policy.service.judging.classification import Allow
from policy.service.judging.guards import Guards
from policy.service.layers.redacted_results import execute_redacted
from policy.tools import PassThrough, ToolOutput, ToolService


class ContextRuleLayer(PassThrough):
    """Decides nothing for a judged call, whose rules were evaluated before.

    Used without a PermissionLayer, it applies the rules set on it to each call; without any it
    forwards everything.
    """

    def __init__(self, inner: ToolService, *, adjudicator: Adjudicator | None = None) -> None:
        super().__init__(inner)
        within = adjudicator or adjudicator_within(inner, skipping=ContextRuleLayer)
        self.adjudicator = within or Adjudicator()
        # Whether a policy or a filter takes part, here or in another layer.
        self._alone = within is None

    def set_rules(self, rules: Iterable[AnyContextRule]) -> None:
        """Replace all rules, from the next call on."""
        self.adjudicator.guards.set_rules(rules)

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward the call as judged; raise PermissionDenied if a rule refuses it."""
        call = HERE.get()
        if not isinstance(call, InFlight):
            with carrying(InFlight()):
                return await self.execute(name, input)
        judgement = call.judgement
        if judgement is None:
            judgement = await self._judged(name, input, call)
            call.judgement, call.permitted = judgement, self._alone
        elif judgement.by is not self.adjudicator:
            await self._require_untouched(judgement, call)
        judged = judgement.decision.call
        if not judgement.decision.redactions:
            return await self.inner.execute(judged.tool, judged.input)
        return await execute_redacted(self.inner, call, judgement)

    async def _judged(self, name: str, input: Any, call: InFlight) -> Judgement:
        """Return the judgement of a call that nothing has judged; raise its error."""
        by = Adjudicator.fixed(self._rules()) if self._alone else self.adjudicator
        judgement = await by.judge(name, input, call.caller)
        if judgement.error is not None:
            raise judgement.error
        if self._alone and judgement.decision.verdict is not Verdict.ALLOW:
            raise PermissionDenied(name, "a context rule did not allow it")
        return judgement

    async def _require_untouched(self, judgement: Judgement, call: InFlight) -> None:
        """Refuse a call that was judged without these rules, if one refuses or changes it."""
        judged = judgement.decision.call
        if not self.adjudicator.guards.current.rules:
            return
        again = await Adjudicator.fixed(self._rules()).judge(judged.tool, judged.input, call.caller)
        if again.error is not None:
            raise again.error
        if again.decision.rewritten:
            why = "a context rule would change a call that has been judged"
            raise PermissionDenied(judged.tool, why, code="changed-meanwhile")

    def _rules(self) -> Guards:
        """Return the rules of this layer, with a filter that grants: rules only restrict."""
        return Guards(smart_filter=_Everything(), rules=self.adjudicator.guards.current.rules)


class _Everything:
    """A filter that allows every call."""

    def classify(self, name: str, input: object) -> Allow:
        return Allow()
