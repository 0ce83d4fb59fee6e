"""Where the values that rules look for stand: in which earlier call, or message of the user.

For approvers and records, never for the agent: a place tells what to write there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from policy.decision.rule_outcome import layers_of_call
from policy.evaluation import ConditionOutcome, looks_elsewhere
from policy.model import Caller, Facts, ToolCall, thaw
from policy.program import Program

_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuePlace:
    """A value of the call, as JSON, and where it stands; `condition` of `rule` looks for it."""

    rule: str
    condition: str
    value: Any
    place: str


def value_places(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> tuple[ValuePlace, ...]:
    """Return where the values stand that rules on a call look for; the first 20, each once.

    Those are the values of `named by user`, `in results(…)`, `from results(…)` and `from LABEL`.
    """
    if not _names(program):
        return ()
    found: dict[tuple[str, str], ValuePlace] = {}
    for one in _found(program, call, caller=caller, facts=facts):
        found.setdefault((repr(one.value), one.place), one)
        if len(found) == _MOST:
            break
    return tuple(found.values())


def _found(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> Iterator[ValuePlace]:
    names = _names(program)
    for layer, here in layers_of_call(program, call, caller=caller, facts=facts):
        for plan in (*layer.allows, *layer.restricting):
            if plan.reason.rule not in names:
                continue
            for clause in plan.clauses:
                yield from _of_condition(plan.reason.rule, clause.parts(here))


def _of_condition(rule: str, outcome: ConditionOutcome) -> Iterator[ValuePlace]:
    for one in outcome.values:
        yield ValuePlace(rule=rule, condition=outcome.text, value=thaw(one.value), place=one.place)
    for part in outcome.parts:
        yield from _of_condition(rule, part)


def _names(program: Program) -> frozenset[str]:
    """Return the names of the rules that look for values elsewhere."""
    if program.value_rules is None:
        program.value_rules = frozenset(
            rule.id
            for layer in program.policy.layers
            for rule in layer.rules
            if looks_elsewhere(rule.when) or looks_elsewhere(rule.unless)
        )
    return program.value_rules
