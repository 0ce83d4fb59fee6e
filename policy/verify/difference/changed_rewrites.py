"""How calls may differ because of rewrites that changed, which no formula reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policy.catalog import ToolSpec
from policy.checks import LayerKey
from policy.program import LayerPlan, RewritePlan
from policy.symbolic import Situation, accepted_input
from policy.verify.difference.common_rules import CommonRules
from policy.verify.difference.formula import Way
from policy.verify.difference.sides import Side

# Values of a field that a rewrite changes: it may suit one, and deny the others.
_OF_EACH_TYPE: tuple[Any, ...] = ("a", 1, 1_000_000_000, -1_000_000_000, True, (), None)


def left_open_by_rewrites(
    sides: tuple[Side, Side], layer: LayerKey, rules: CommonRules
) -> frozenset[Way]:
    """Return how calls may differ because of a layer's rewrites.

    A call that is rewritten gets the stricter verdict of both inputs. So a first rewrite of a tool
    is never looser, and the absence of the last one never tighter.
    """
    known = rules.keys_of_both
    if all(rules.keys.of(each, plan) in known for each, plan in _rewrites(sides, layer)):
        return frozenset()
    before, after = (any(each.rewrites for each in side.layers) for side in sides)
    found: dict[Way, bool] = {
        "looser": before,
        "tighter": after,
        "approval": before,
        "more-approval": after,
    }
    return frozenset(way for way, is_open in found.items() if is_open)


def rewritten_calls(
    spec: ToolSpec, sides: tuple[Side, Side], layer: LayerKey
) -> Iterator[Situation]:
    """Yield calls with values of several types in each field that a layer's rewrites change."""
    fields = dict.fromkeys(
        str(change.steps[0])
        for _, plan in _rewrites(sides, layer)
        for change in plan.rule.changes
        if change.steps
    )
    base = Situation(spec=spec, base=accepted_input(spec))
    yield from (base.having({("input", name): one}) for name in fields for one in _OF_EACH_TYPE)


def _rewrites(sides: tuple[Side, Side], layer: LayerKey) -> Iterator[tuple[LayerPlan, RewritePlan]]:
    for each in (side.layer(layer) for side in sides):
        if each is not None:
            yield from ((each, plan) for plan in each.rewrites)
