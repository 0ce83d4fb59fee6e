"""What rewrites leave of an input: the one that runs is not changed by them once more.

A call whose rewritten input would be changed again is denied, and so is one of which a rewrite is
indeterminate. So of the input that runs, each rewrite is false, or what it changes is as it wants
it. A claim is about this input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from policy.checks import checked
from policy.evaluation import constant_value
from policy.program import LayerPlan, RewritePlan
from policy.symbolic.reading import Reading, Scope, demands
from policy.values import compare_numbers, is_number, is_ordinary


def tests_of_changes(plan: RewritePlan) -> Iterator[checked.Test]:
    """Yield tests that ask about what a rewrite changes."""
    return (wanted.test for wanted in _wanted(plan))


def left_alone(plan: RewritePlan, layer: LayerPlan, reading: Reading) -> Sequence[tuple[int, ...]]:
    """Return clauses of which each has to hold if the rewrite leaves the input that runs alone.

    They also hold for some inputs that it changes, where a change is not modelled.
    """
    rule, declared = plan.rule, layer.declared
    matches = demands(rule.when, rule.unless, declared, reading, grants=False)
    scope = Scope(declared, absent_is_false=True)
    found = [(matches.fails, matches.holds)]
    for wanted in _wanted(plan):
        truth = reading.leaf(wanted.test, scope)
        found.append((matches.fails, truth.holds if wanted.certain else -truth.fails))
    return found


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A test that is not false of a field which is as a change wants it; true, if `certain`."""

    test: checked.Test
    certain: bool


def _wanted(plan: RewritePlan) -> Iterator[_Wanted]:
    """Yield what changes want, but for those of elements of lists, and redactions."""
    for change in plan.rule.changes:
        field = _field(change.steps)
        if field is not None:
            yield from _of_field(change, field)


def _field(steps: tuple[str | int, ...]) -> checked.Value | None:
    found: checked.Value = checked.Fact(path=("input",))
    for step in steps:
        if not isinstance(step, str):
            return None
        found = checked.FieldOf(base=found, name=step)
    return found


def _of_field(change: checked.CheckedChange, field: checked.Value) -> Iterator[_Wanted]:
    text = change.text
    match change.kind:
        case "remove" | "set if absent":
            there = change.kind != "remove"
            yield _Wanted(checked.Presence(left=field, present=there, text=text), certain=True)
        case "at most" | "at least" if change.value is not None:
            # A value that is no number, or one beyond a double, is denied.
            op: Literal["<=", ">="] = "<=" if change.kind == "at most" else ">="
            test = checked.Comparison(op=op, left=field, right=change.value, text=text)
            yield _Wanted(test, certain=True)
        case "set" if change.value is not None:
            test = checked.Comparison(op="==", left=field, right=change.value, text=text)
            yield _Wanted(test, certain=_equals_only_itself(change.value))
        case _:
            return


def _equals_only_itself(value: checked.Value) -> bool:
    """Return whether any JSON value that Python takes for this one is certainly equal to it.

    That `true` is 1 for Python is no equality in conditions.
    """
    if not isinstance(value, checked.Constant):
        return False
    found = constant_value(value.value)
    if isinstance(found, str):
        return is_ordinary(found)
    return is_number(found) and found not in (0, 1) and compare_numbers("==", found, found) is True
