"""Why it is undecided whether two policies decide calls of a tool differently, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from policy.catalog import ToolSpec
from policy.program import LayerPlan
from policy.symbolic import AllCalls, AnyPlan, demands_too_much, open_conditions_of_rule
from policy.verify.proof.open_reasons import ARITHMETIC, TOO_LARGE, line_of

_SMALLER = "set smaller bounds in the schema"
_DENY_IT = "write down what must never be allowed as a `deny`, or tests for such calls"


class Undecided(NamedTuple):
    """Why something is undecided, and what may decide it; empty where that is not known."""

    because: str = ""
    help: str = ""


def why_undecided(
    spec: ToolSpec,
    readings: Sequence[AllCalls],
    changed: Iterable[Iterable[tuple[LayerPlan, AnyPlan]]],
) -> Undecided:
    """Return why a proof failed: inputs are too large, or arithmetic or changed conditions open.

    `readings` are those that were searched, `changed` the rules that each policy has alone.
    """
    if demands_too_much(spec.schema):
        return Undecided(TOO_LARGE, _SMALLER)
    for reading in readings:
        if reading.left_open:
            return Undecided(*ARITHMETIC[reading.left_open])
    sides = [
        {
            condition: None
            for layer, plan in rules
            for reading in readings
            for condition in open_conditions_of_rule(reading, layer, plan)
        }
        for rules in changed
    ]
    texts = [{condition.text for condition in side} for side in sides]
    found = [condition for side in sides for condition in side]
    # What both say is the same for both: such a condition is named where there is no other.
    own = [one for one in found if not all(one.text in side for side in texts)] or found
    if not own:
        return Undecided()
    more = f", and {len(own) - 1} more" if len(own) > 1 else ""
    return Undecided(f"{line_of(own[0])}{more}", _DENY_IT)
