"""Whether a tool is visible to a caller before any input is known: hidden, asks, or open.

Conditions on the caller and the situation are evaluated with the current facts; a condition on the
input may become anything. A tool is hidden only when it is certain to be denied for every input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from policy.catalog import ToolSpec, operations_in
from policy.decision.identity import identity_reasons
from policy.evaluation import Evaluation, PossibleTruths
from policy.model import EMPTY, Caller, Facts, Verdict
from policy.program import LayerPlan, Program, RulePlan, ToolPlan


class Visibility(StrEnum):
    """`hidden`: denied for every input; `asks`: some input may need an approval; else `open`."""

    HIDDEN = "hidden"
    ASKS = "asks"
    OPEN = "open"


def visibility_of(
    program: Program,
    tool: str,
    caller: Caller,
    facts: Facts,
    *,
    fields: Mapping[str, Any] = EMPTY,
) -> Visibility:
    """Return the tool's visibility for this caller; an unknown tool is hidden.

    With `fields`, for inputs that have exactly these values there. Without, a tool with operations
    is as visible as its most visible operation.
    """
    spec = program.catalog.get(tool)
    if spec is None or _is_denied_unreviewed(spec) or _barred(spec, caller, facts):
        return Visibility.HIDDEN
    tag = None if fields else operations_in(spec.schema)
    found = _of(program, spec, caller, facts, fields)
    if tag is None or found is Visibility.HIDDEN:
        return found
    each = {_of(program, spec, caller, facts, {tag.name: value}) for value in tag.values}
    return next(one for one in (Visibility.ASKS, Visibility.OPEN, Visibility.HIDDEN) if one in each)


def _of(
    program: Program, spec: ToolSpec, caller: Caller, facts: Facts, fields: Mapping[str, Any]
) -> Visibility:
    views = [_View(program, spec, one, facts, fields) for one in caller.chain()]
    if any(view.denied() for view in views):
        return Visibility.HIDDEN
    if spec.requires_confirmation or spec.needs_review:
        return Visibility.ASKS
    return Visibility.ASKS if any(view.may_ask() for view in views) else Visibility.OPEN


def _is_denied_unreviewed(spec: ToolSpec) -> bool:
    return spec.needs_review and spec.unreviewed is Verdict.DENY


def _barred(spec: ToolSpec, caller: Caller, facts: Facts) -> bool:
    return any(
        reason.verdict is Verdict.DENY
        for one in caller.chain()
        for reason in identity_reasons(one, spec, facts.now)
    )


class _View:
    """What the layers that apply to one caller of the chain decide about a tool."""

    def __init__(
        self,
        program: Program,
        spec: ToolSpec,
        caller: Caller,
        facts: Facts,
        fields: Mapping[str, Any],
    ) -> None:
        self._plan: ToolPlan = program.plan(spec, agent=caller.agent, role=caller.role)
        self._call = Evaluation(spec, fields, caller=caller, facts=facts, slots=program.slots)
        self._known_fields = frozenset(fields)

    def denied(self) -> bool:
        """Return whether this caller is denied the tool for every input."""
        return not self._may_be_granted() or any(map(self._layer_denies, self._plan.layers))

    def may_ask(self) -> bool:
        """Return whether some input may need an approval."""
        return any(map(self._layer_asks, self._plan.layers))

    def _possible_truths(self, rule: RulePlan) -> PossibleTruths:
        return rule.possible_truths(self._known_fields)(self._call)

    def _may_give(self, rules: Iterable[RulePlan]) -> bool:
        return any(self._possible_truths(rule).may_grant for rule in rules)

    def _may_be_granted(self) -> bool:
        layers = self._plan.layers
        if not layers or layers[0].key.kind != "every":
            return False
        top, others = layers[0], layers[1:]
        if top.default is not None or self._may_give(top.allows):
            return True
        return any(
            layer.key in top.delegated_to and (layer.named_default or self._may_give(layer.allows))
            for layer in others
        )

    def _layer_denies(self, layer: LayerPlan) -> bool:
        denies = (rule for rule in layer.restricting if rule.verdict is Verdict.DENY)
        if any(self._possible_truths(rule).surely_restricts for rule in denies):
            return True
        default = layer.default is not None and layer.default.verdict is Verdict.DENY
        return default and not self._may_give(layer.allows)

    def _layer_asks(self, layer: LayerPlan) -> bool:
        asks = (rule for rule in layer.restricting if rule.verdict is Verdict.ASK)
        if any(self._possible_truths(rule).may_restrict for rule in asks):
            return True
        default = layer.default is not None and layer.default.verdict is Verdict.ASK
        return default and not any(self._possible_truths(rule).is_sure for rule in layer.allows)
