"""Joins a policy's decision with filter and context rules: it can only get stricter.

Every guard is evaluated before any person is asked, on the call as it would run.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from policy.catalog import ToolSpec
from policy.decision import Decision
from policy.generation import Generation
from policy.model import Caller, Facts, Reason, ToolCall, Verdict, strictest, thaw
from policy.service.judging.classification import Allow, Confirm, Deny, SmartFilter
from policy.service.judging.context_rule import ContextRule, Rewrite, RuleContext
from policy.service.judging.guards import Guards
from policy.service.judging.identity import denials
from policy.service.judging.judge import Judge, PolicyAnswer

_LOG = logging.getLogger(__name__)


def joined(
    answer: PolicyAnswer, judge: Judge, *, guards: Guards, caller: Caller, facts: Facts
) -> Decision:
    """Return the decision joined with the guards; without any opinion, a denial."""
    # A generation has checked the caller; another judge may not have.
    if guards.smart_filter is None and not guards.rules and isinstance(judge, Generation):
        return _concluded(answer.decision)
    spec = None if answer.admitted is None else answer.admitted.spec
    return Joining(judge=judge, guards=guards, caller=caller, facts=facts, spec=spec).join(answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """Joins one call's policy decision with the guards; it can only get stricter."""

    judge: Judge
    guards: Guards
    caller: Caller
    facts: Facts
    spec: ToolSpec | None

    def join(self, answer: PolicyAnswer) -> Decision:
        """Return the decision joined with the guards; without any opinion, a denial."""
        return _concluded(self._joined(answer))

    def _joined(self, answer: PolicyAnswer) -> Decision:
        decision = answer.decision
        if answer.refused is not None or decision.verdict is Verdict.DENY:
            return decision
        reasons: list[Reason] = []
        if not isinstance(self.judge, Generation):
            reasons += denials(self.caller, self.spec or decision.call.tool, self.facts.now)
        reasons += self._opinions(decision.call)
        if decision.rewritten:
            # A rewrite must not remove what restricts the original call.
            reasons += [r for r in self._opinions(decision.asked) if r.verdict is not Verdict.ALLOW]
            self._rewritten(decision.asked, reasons)
        rewritten = self._rewritten(decision.call, reasons)
        if rewritten is None:
            return _with(decision, reasons)
        return self._decided_again(_with(decision, reasons), rewritten)

    def _decided_again(self, first: Decision, input: Mapping[str, Any]) -> Decision:
        """Judge the call with the input that a rule returns; the stricter verdict counts."""
        again = self.judge.answer(
            first.call.tool, thaw(input), caller=self.caller, facts=self.facts
        )
        if again.refused is not None:
            return _with(
                first,
                [_denial("context-rule", f"its new input is refused: {again.refused.message}")],
            )
        second = again.decision
        reasons = list(self._opinions(second.call))
        further = self._rewritten(second.call, reasons)
        if second.call.tool != first.call.tool:
            reasons.append(_denial("context-rule", "its new input would be another tool's"))
        if further is not None and ToolCall(tool="", input=further).input != second.call.input:
            reasons.append(_denial("context-rule", "its own result would be changed again"))
        joined = _with(second, reasons)
        merged = tuple(dict.fromkeys((*first.reasons, *joined.reasons)))
        return structs.replace(
            joined,
            asked=first.asked,
            repairs=first.repairs,
            verdict=strictest((first.verdict, joined.verdict)),
            reasons=merged,
            shadowed=tuple(dict.fromkeys((*first.shadowed, *joined.shadowed))),
            redactions=tuple(dict.fromkeys((*first.redactions, *joined.redactions))),
        )

    def _names(self, call: ToolCall) -> tuple[str, ...]:
        return (call.tool,) if self.spec is None else self.spec.names

    def _asked_by(self, guard: object, call: ToolCall) -> tuple[str, ...]:
        """Return the names to pass to a guard: `translate` in it covers all versions."""
        names = self._names(call)
        return names[:1] if getattr(guard, "knows_versions", False) is True else names

    def _opinions(self, call: ToolCall) -> Iterator[Reason]:
        smart_filter = self.guards.smart_filter
        if smart_filter is None:
            return
        for name in self._asked_by(smart_filter, call):
            yield _filter_opinion(smart_filter, name, call.input)

    def _rewritten(self, call: ToolCall, reasons: list[Reason]) -> Mapping[str, Any] | None:
        """Evaluate every rule on a call; denials go to `reasons`, the new input is returned."""
        if not self.guards.rules:
            return None
        ctx = RuleContext(caller=self.caller, facts=self.facts)
        wanted: list[Mapping[str, Any]] = []
        asked = [(rule, name) for rule in self.guards.rules for name in self._asked_by(rule, call)]
        for rule, name in asked:
            outcome = _outcome(rule, ToolCall(tool=name, input=call.input), ctx)
            if isinstance(outcome, Reason):
                reasons.append(outcome)
            elif isinstance(outcome, Rewrite):
                new = ToolCall(tool=call.tool, input=outcome.input).input
                if new != call.input and new not in wanted:
                    wanted.append(new)
        if len(wanted) > 1:
            reasons.append(_denial("context-rule", "two rules want different inputs"))
        return wanted[0] if len(wanted) == 1 else None


def _filter_opinion(smart_filter: SmartFilter, name: str, input: Mapping[str, Any]) -> Reason:
    try:
        said: object = smart_filter.classify(name, input)
    except Exception as error:  # noqa: BLE001 - whatever a filter raises, the call is denied
        _log_failure("the filter", error)
        return _denial("filter", "the filter failed")
    if isinstance(said, Allow):
        return Reason(rule="filter", verdict=Verdict.ALLOW)
    if isinstance(said, Confirm):
        return Reason(rule=str(said.rule), verdict=Verdict.ASK, message=str(said.reason))
    if isinstance(said, Deny):
        return _denial(str(said.rule), str(said.reason))
    _LOG.error("the filter returned a `%s`, which denies the call", type(said).__name__)
    return _denial("filter", "the filter returned no classification")


def _outcome(rule: ContextRule, call: ToolCall, ctx: RuleContext) -> Reason | Rewrite | None:
    try:
        said: object = rule.evaluate(call.tool, call.input, ctx)
        if isinstance(said, Allow):
            return None
        if isinstance(said, Rewrite) and isinstance(said.input, Mapping):
            return Rewrite(ToolCall(tool=call.tool, input=said.input).input)
        if isinstance(said, Deny):
            return _denial("context-rule", str(said.reason))
    except Exception as error:  # noqa: BLE001 - whatever a rule raises, the call is denied
        _log_failure("a context rule", error)
        return _denial("context-rule", "a context rule failed")
    _LOG.error("a context rule returned a `%s`, which denies the call", type(said).__name__)
    return _denial("context-rule", "a context rule returned no outcome")


def _log_failure(what: str, error: Exception) -> None:
    """Report a failure to the host application: the call's message does not."""
    _LOG.error("%s failed, so the call is denied: %s", what, type(error).__name__)
    _LOG.debug("%s failed", what, exc_info=error)


def _denial(rule: str, message: str) -> Reason:
    return Reason(rule=rule, verdict=Verdict.DENY, message=message)


def _with(decision: Decision, reasons: list[Reason]) -> Decision:
    if not reasons:
        return decision
    verdict = strictest((decision.verdict, *(reason.verdict for reason in reasons)))
    every = tuple(dict.fromkeys((*decision.reasons, *reasons)))
    return structs.replace(decision, verdict=verdict, reasons=every)


def _concluded(decision: Decision) -> Decision:
    """Turn a decision without reasons into a denial, and put the deciding reasons first."""
    if decision.verdict is Verdict.NONE:
        none = Reason(rule="none", verdict=Verdict.DENY, message="nothing allows this")
        return structs.replace(decision, verdict=Verdict.DENY, reasons=(none, *decision.reasons))
    if len(decision.reasons) == 1:
        return decision
    first = [r for r in decision.reasons if r.verdict is decision.verdict]
    rest = [r for r in decision.reasons if r.verdict is not decision.verdict]
    if decision.reasons[: len(first)] == tuple(first):
        return decision
    return structs.replace(decision, reasons=(*first, *rest))
