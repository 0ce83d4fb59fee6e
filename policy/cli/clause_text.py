"""One clause of an explanation as lines: the clause, and the parts of it that decide.

`✓` marks what lets the rule match, `✗` what keeps it from matching, `?` what is indeterminate. The
parts of `unless` and `not` must be false, so each is shown with `not` before it; and an `unless`
says whether it holds, since `✓ unless …` alone reads as if it did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from policy.decision import ClauseOutcome, Outcome, PartOutcome, ResourceOutcome
from policy.diagnostics import visible

_LONGEST_TEXT = 400
_LONGEST_RESOURCE = 200
_MOST_PARTS = 12
_MOST_RESOURCES = 6
_DEEPEST = 6
_STATES = {"holds": " (it holds)", "fails": " (it does not hold)", "indeterminate": ""}


def clause_lines(clause: ClauseOutcome, *, divided: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines of a clause, each with its depth below the clause: parts if `divided`."""
    wanted = clause.keyword == "when"
    # An exception that is not met leaves nothing to explain.
    divided = divided and (wanted or clause.outcome != "fails")
    parts = list(_parts(clause, wanted=wanted, depth=1)) if divided else []
    parts = parts or list(_values(clause, depth=1))
    state = "" if wanted else _STATES[clause.outcome]
    text = f"{clause.keyword} {clause.text}{state}"
    yield 0, _line(clause, text, wanted=wanted, divided=bool(parts))
    yield from parts


def _line(test: ClauseOutcome | PartOutcome, text: str, *, wanted: bool, divided: bool) -> str:
    """Return one part; why it is indeterminate stands below it if its parts or resources say so."""
    below = divided and (test.operator is not None or any(each.why for each in test.resources))
    why = "" if test.why is None or below else f": {test.why}"
    return f"{_mark(test.outcome, wanted=wanted)} {_shown(text)}{_shown(why)}"


def _parts(
    test: ClauseOutcome | PartOutcome, *, wanted: bool, depth: int
) -> Iterator[tuple[int, str]]:
    if depth > _DEEPEST:
        return
    if test.operator == "not":
        for part in test.parts:
            yield from _parts(part, wanted=not wanted, depth=depth)
        return
    if test.operator is None:
        yield from _resources(test, wanted=wanted, depth=depth)
        yield from _values(test, depth=depth)
        return
    if _mark(test.outcome, wanted=wanted) == "✓" and len({p.outcome for p in test.parts}) == 1:
        yield from _values(test, depth=depth)
        return
    for part in test.parts[:_MOST_PARTS]:
        below = list(_parts(part, wanted=wanted, depth=depth + 1))
        text = part.text if wanted else _negated(part)
        yield depth, _line(part, text, wanted=wanted, divided=bool(below))
        yield from below
    if len(test.parts) > _MOST_PARTS:
        yield depth, f"and {len(test.parts) - _MOST_PARTS} more"


def _negated(part: PartOutcome) -> str:
    if part.operator == "not":
        return part.parts[0].text
    return f"not ({part.text})" if part.operator else f"not {part.text}"


def _resources(
    test: ClauseOutcome | PartOutcome, *, wanted: bool, depth: int
) -> Iterator[tuple[int, str]]:
    for each in test.resources[:_MOST_RESOURCES]:
        if each.why is not None and each.why == test.why and not each.place:
            continue  # the line above says as much
        why = f": {each.why}" if each.why else ""
        mark = _mark(test.outcome, wanted=wanted)
        yield depth, f"{mark} {_resource(each)}{_shown(why)}"
    if len(test.resources) > _MOST_RESOURCES:
        yield depth, "and more"


def _values(test: ClauseOutcome | PartOutcome, *, depth: int) -> Iterator[tuple[int, str]]:
    """Yield where each value stands that a test, or a part of it, looks for."""
    for part in test.parts:
        yield from _values(part, depth=depth)
    for each in test.values[:_MOST_RESOURCES]:
        value = visible(json.dumps(each.value, ensure_ascii=False, default=str), _LONGEST_RESOURCE)
        yield depth, f"{value} stands {each.place}"
    if len(test.values) > _MOST_RESOURCES:
        yield depth, "and more"


def _resource(each: ResourceOutcome) -> str:
    place = f", {each.place}" if each.place else ""
    return visible(f"{each.resource}{place}", _LONGEST_RESOURCE)


def _mark(outcome: Outcome, *, wanted: bool) -> str:
    if outcome == "indeterminate":
        return "?"
    return "✓" if (outcome == "holds") == wanted else "✗"


def _shown(text: str) -> str:
    return visible(text, _LONGEST_TEXT)
