"""What stands between a call and an allow, in sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policy.decision.clause_outcome import ClauseOutcome, PartOutcome
from policy.decision.rule_outcome import LayerOutcome, RuleOutcome
from policy.decision.sentences.conditions import listed
from policy.decision.sentences.rules import approval_words
from policy.diagnostics import is_shipped
from policy.model import Decision, Reason, Verdict

# How many resources a sentence names for which a condition is false.
_MOST_NAMED = 2


def needed_for(decision: Decision, layers: tuple[LayerOutcome, ...]) -> tuple[str, ...]:
    """Return what stands between the call and an allow, one sentence per point."""
    if decision.verdict is Verdict.ALLOW:
        return ()
    blocking = [r for r in decision.reasons if r.verdict.rank > Verdict.ALLOW.rank]
    needed = list(_hindrances(blocking))
    if any(r.rule in ("none", "default") for r in blocking):
        near = [rule for layer in layers for rule in layer.rules if _is_near(rule)]
        needed += [_missed(rule) for rule in sorted(near, key=distance)]
    return tuple(dict.fromkeys(needed))


def _hindrances(blocking: Sequence[Reason]) -> Iterator[str]:
    """Yield what each reason wants; rules that are indeterminate for the same cause together."""
    undecided: dict[tuple[str, str], list[str]] = {}
    for reason in blocking:
        if reason.undecided is not None:
            key = reason.undecided, _or_approval(reason)
            undecided.setdefault(key, []).append(f"`{reason.rule}`")
    told: set[tuple[str, str]] = set()
    for reason in blocking:
        approval = _or_approval(reason)
        if reason.undecided is None:
            yield f"{_hindrance(reason)}{approval}"
        elif (key := (reason.undecided, approval)) not in told:
            told.add(key)
            names = listed(list(dict.fromkeys(undecided[key])), "and")
            yield f"{names} must not be indeterminate: {reason.undecided}{approval}"


def _hindrance(reason: Reason) -> str:
    who = f"`{reason.rule}`"
    if reason.rule in ("none", "default"):
        return "an `allow` must match"
    if reason.limit is not None:
        return f"{who} must have room: {reason.message}"
    if reason.clause:
        return f"{who} must not match: `{reason.clause}`"
    if reason.message:
        return f"{who} must no longer apply: {reason.message}"
    verb = "denies" if reason.verdict is Verdict.DENY else "asks about"
    return f"{who} {verb} every such call"


def _or_approval(reason: Reason) -> str:
    """Return whose approval would do as well, if only certain people may give it."""
    if reason.verdict is not Verdict.ASK or reason.terms is None or reason.terms.plain:
        return ""
    return f", or {approval_words(reason.terms)} is given"


def _is_near(rule: RuleOutcome) -> bool:
    return rule.kind == "allow" and not rule.counts and is_relevant(rule)


def is_relevant(rule: RuleOutcome) -> bool:
    """Return whether an `allow` helps to explain a call that it does not match.

    Of a pack that comes with Placet, one does not that a parameter switches off, nor one that is
    about other calls (`runs any foreign`): its author is somebody else. Any other rule does.
    """
    if not is_shipped(rule.reason.file or ""):
        return True
    return rule.possible and not any(
        _selects(part, wanted=wanted) for part, wanted in failed_parts(rule)
    )


def _selects(part: ClauseOutcome | PartOutcome, *, wanted: bool) -> bool:
    """Return whether a part says which calls a rule is about, by a resource that they have."""
    return bool(part.verb) and wanted and not part.fences


def distance(rule: RuleOutcome) -> tuple[int, int, int]:
    """Return how far an `allow` is from matching, to compare it with others.

    First the conditions that say what the rule is about, then the resources that it does not
    cover, then what is not known of the call.
    """
    conditions, uncovered, unknown = 0, set(), set()
    for part, wanted in failed_parts(rule):
        if _selects(part, wanted=wanted):
            conditions += 1
        elif part.outcome == "indeterminate":
            unknown |= {each.why for each in part.resources} or {part.why}
        elif is_uncovered(part, wanted=wanted):
            uncovered |= {each.resource for each in part.resources}
        else:
            conditions += 1
    return conditions, len(uncovered), len(unknown)


def is_uncovered(part: ClauseOutcome | PartOutcome, *, wanted: bool) -> bool:
    """Return whether a part that fails does so for resources that a rule does not cover."""
    return bool(part.resources) and (part.fences or not wanted)


def failed_parts(rule: RuleOutcome) -> Iterator[tuple[ClauseOutcome | PartOutcome, bool]]:
    """Yield what keeps a rule from matching, each part with whether it should hold."""
    for clause in rule.clauses:
        wanted = clause.keyword == "when"
        if clause.outcome == "indeterminate" or (clause.outcome == "holds") != wanted:
            yield from _opposing(clause, wanted=wanted)


def _opposing(
    test: ClauseOutcome | PartOutcome, *, wanted: bool
) -> Iterator[tuple[ClauseOutcome | PartOutcome, bool]]:
    """Yield the smallest parts of which each one keeps a condition from being as wanted."""
    if test.operator == "not":
        yield from _opposing(test.parts[0], wanted=not wanted)
    elif test.operator == ("and" if wanted else "or"):
        for part in test.parts:
            if part.outcome == "indeterminate" or (part.outcome == "holds") != wanted:
                yield from _opposing(part, wanted=wanted)
    else:
        yield test, wanted


def _missed(rule: RuleOutcome) -> str:
    failed = [_wanted(part, wanted=wanted) for part, wanted in failed_parts(rule)]
    if not failed and rule.why is not None:
        return f"`{rule.reason.rule}` does not allow it: {rule.why}"
    return f"`{rule.reason.rule}` allows it if {' and '.join(failed) or 'its conditions hold'}"


def _wanted(test: ClauseOutcome | PartOutcome, *, wanted: bool) -> str:
    """Return what would have to hold instead, and what keeps it from being so."""
    found, negated = test.resources, "" if wanted else "not "
    if test.outcome == "indeterminate":
        why = next((each.why for each in found if each.why), test.why)
        return f"{negated}`{test.text}` (now indeterminate: {why})"
    named = [f"`{each.resource}`" for each in found[:_MOST_NAMED]]
    if len(found) > _MOST_NAMED:
        named.append("others")
    true = "not true" if wanted else "true"
    return f"{negated}`{test.text}`" + (f" ({true} of {' and '.join(named)})" if named else "")
