"""Which part of a call the nearest `allow` does not cover, in one sentence for its caller.

It quotes the call and names the rule, never a pattern, a set or a condition of it: those are for
people, in explanations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policy.decision.clause_outcome import ClauseOutcome, PartOutcome, ResourceOutcome
from policy.decision.needed import distance, failed_parts, is_uncovered
from policy.decision.rule_outcome import RuleOutcome, allow_outcomes
from policy.diagnostics import visible
from policy.model import Caller, Decision, Facts
from policy.program import Program
from policy.values import quote

_MOST_NAMED = 2
_LONGEST_PLACE = 120
_DOING = {
    "reads": "reading",
    "writes": "writing",
    "runs": "the command",
    "connects": "connecting to",
    "sends": "sending to",
}


def nearest_allow(
    program: Program, decision: Decision, *, caller: Caller, facts: Facts
) -> str | None:
    """Return what the nearest `allow` lacks, if no rule allows a call; None if there is none.

    None as well for a tool that no input could make it allow.
    """
    if not any(reason.rule in ("none", "default") for reason in decision.deciding):
        return None
    found = allow_outcomes(program, decision.asked, caller=caller, facts=facts)
    near = [rule for rule in found if rule.possible and not rule.counts]
    return _lacking(min(near, key=distance)) if near else None


def _lacking(rule: RuleOutcome) -> str:
    name = quote(rule.reason.rule)
    failed = list(failed_parts(rule))
    lacking = list(dict.fromkeys(_uncovered(failed)))
    if lacking:
        more = len(lacking) - _MOST_NAMED
        rest = f", and {more} more" if more > 0 else ""
        named = ", nor ".join(lacking[:_MOST_NAMED])
        return f"no rule allows this: the nearest, {name}, does not cover {named}{rest}"
    if any(part.outcome != "indeterminate" for part, _ in failed):
        return f"no rule allows this: the conditions of the nearest, {name}, do not hold"
    why = next((why for part, _ in failed if (why := _why(part))), rule.why)
    return f"no rule surely allows this: whether {name} does cannot be decided: {why}"


def _uncovered(failed: Sequence[tuple[ClauseOutcome | PartOutcome, bool]]) -> Iterator[str]:
    for part, wanted in failed:
        if part.outcome != "indeterminate" and is_uncovered(part, wanted=wanted):
            yield from (_named(part.verb, each) for each in part.resources)


def _named(verb: str, each: ResourceOutcome) -> str:
    unknown = f" ({each.unknown})" if each.unknown else ""
    shown = quote(each.resource) if verb == "runs" else visible(each.resource, _LONGEST_PLACE)
    return f"{_DOING[verb]} {shown}{unknown}{_holding(verb, each)}"


def _holding(verb: str, each: ResourceOutcome) -> str:
    """Return which file of a tree is not covered, and what to do; empty where none is named."""
    if not each.why or verb not in ("reads", "writes"):
        return ""
    way_out = "; name a part of it, or leave that file out" if verb == "reads" else ""
    return f", as {visible(each.why, _LONGEST_PLACE)}{way_out}"


def _why(part: ClauseOutcome | PartOutcome) -> str | None:
    """Return why a part is indeterminate; None if it is not."""
    if part.outcome != "indeterminate":
        return None
    return next((each.why for each in part.resources if each.why), part.why)
