"""Why proofs and comparisons are undecided, in words, and what helps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from policy.diagnostics import visible

if TYPE_CHECKING:
    from policy.symbolic import OpenCondition, WhyOpen

_LONGEST_CONDITION = 200
TOO_LARGE = "its schema demands inputs that are too large to be tried"
NO_INPUT = "no input was found that its schema accepts, so no call is tried"
# Why arithmetic is undecided, and what helps.
ARITHMETIC = {
    "missing": (
        "arithmetic of several values needs the solver z3, which is not installed",
        "install placet[analysis], the extra that contains z3",
    ),
    "unfinished": (
        "the solver z3 found no answer within the work that it may do",
        "set bounds for the fields, in the schema or in rules, or claim less",
    ),
    "spent": (
        "so many values are compared with each other that the work for a proof was used up",
        "claim it of fewer fields, or compare them with constants",
    ),
}
WHY_OPEN: Mapping[WhyOpen, str] = {
    "script": "what commands access is not derived from their patterns",
    "commands": "not all commands that its patterns match are known",
    "resources": "of these resources, only sets with the same items are compared",
    "history": "what came before the call is not modelled",
    "nested": "an `any` or `all` within another one is compared with the same condition alone",
    "index": "an element by its index is not related to what is said of all elements",
    "rewritten": "what a rewrite leaves of it is not modelled",
    "addresses": "a name may have an address in it, which only a resolver knows",
    "callers": "what rules say of the agents above the caller is not modelled; up to 32 are tried",
    "spelled": "a file or host may be spelled in other ways, of which not all are modelled",
    "schema": "the schema demands more of the field than is modelled, and no such call was found",
    "value": "such a value is compared with the same condition alone",
    "together": "no call that meets it was found, though nothing that is modelled excludes one",
}


def line_of(one: OpenCondition) -> str:
    """Return a condition that is open, where it is, and why."""
    return f"`{visible(one.text, _LONGEST_CONDITION)}` in {_owner(one)}: {WHY_OPEN[one.why]}"


def _owner(one: OpenCondition) -> str:
    if not one.rule:
        return "the claim"
    if one.rule == one.place:
        return visible(one.place)
    return f"{visible(one.rule, 60)} ({visible(one.place)})"
