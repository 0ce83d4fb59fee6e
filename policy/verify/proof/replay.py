"""Decides a call that a formula suggests by the engine, and makes one that was found smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from policy.decision import answer
from policy.evaluation import (
    ABSENT,
    ConditionScope,
    Evaluation,
    Indeterminate,
    compile_test,
)
from policy.layers import applies_to
from policy.program import Program
from policy.symbolic import RESOURCES, Claim, Situation, Subject
from policy.verify.proof.counterexample import Counterexample
from policy.verify.proof.smaller_values import smaller_values

_MOST_TRIED = 20  # values of one field or fact, for a smaller counterexample
_MOST_DECIDED = 500  # calls in all, for one
_MOST_REDUCED = 300  # of them with simpler values than those that were tried


class _Shown(Protocol):
    @property
    def situation(self) -> Situation: ...


_Found = TypeVar("_Found", bound=_Shown)


def smallest(
    found: _Found,
    decide: Callable[[Situation], _Found | None],
    values_of: Callable[[Subject], tuple[Any, ...]],
) -> _Found:
    """Return a call with as little in it as `decide` still finds what was found.

    What can be as usual is left out, other values are the first that do, and lists, objects and
    large numbers are made smaller. The number of calls that are decided is bounded; what was found
    by then is returned.
    """
    steps: Iterator[int] = iter(range(_MOST_DECIDED))

    def decided_yet(one: Situation) -> _Found | None:
        return None if next(steps, None) is None else decide(one)

    for subject in tuple(found.situation.values):
        rest = {key: value for key, value in found.situation.values.items() if key != subject}
        simpler = [replace(found.situation, values=MappingProxyType(rest))]
        simpler += (
            found.situation.having({subject: value})
            for value in values_of(subject)[:_MOST_TRIED]
            if value is not ABSENT
        )
        found = next((shown for one in simpler if (shown := decided_yet(one))), found)
    for name in tuple(found.situation.values.get(RESOURCES, ())):
        arguments = {**found.situation.values[RESOURCES], name: ABSENT}
        found = decided_yet(found.situation.having({RESOURCES: arguments})) or found
    steps = islice(steps, _MOST_REDUCED)
    for subject in tuple(found.situation.values):
        reduced: _Found | None = found
        while reduced is not None:
            found = reduced
            simpler = [
                found.situation.having({subject: value})
                for value in _reduced(subject, found.situation.values[subject])
            ]
            reduced = next((shown for one in simpler if (shown := decided_yet(one))), None)
    return found


def _reduced(subject: Subject, value: Any) -> Iterator[Any]:
    """Yield simpler values of a subject; of the resources, of each argument by itself."""
    if subject != RESOURCES:
        yield from smaller_values(value)
        return
    for name, argument in value.items():
        for less in smaller_values(argument):
            yield {**value, name: less}


def decided(
    program: Program, claim: Claim, situation: Situation, *, slots: int
) -> Counterexample | None:
    """Return a situation as a counterexample; None if the engine decides otherwise."""
    caller = situation.caller
    if not applies_to(claim.layer, agent=caller.agent, role=caller.role):
        return None
    given = situation.as_json()
    if given is None:
        return None
    outcome = answer(program, situation.spec.name, given, caller, situation.facts)
    decision = outcome.decision
    if outcome.admitted is None or decision.verdict >= claim.least:
        return None
    call = Evaluation(
        situation.spec, decision.call.input, caller=caller, facts=situation.facts, slots=slots
    )
    met = _met(claim, call)
    if met is False:
        return None
    return Counterexample(
        situation=situation, decision=decision, wanted=claim.least, unclear=met is None
    )


def _met(claim: Claim, call: Evaluation) -> bool | None:
    """Return whether a call meets the conditions of a claim; None is indeterminate."""
    invariant, found = claim.invariant, True
    for test, wanted in ((invariant.when, True), (invariant.unless, False)):
        if test is None:
            continue
        place = ConditionScope(
            declared=claim.declared,
            absent_is_false=wanted,
            covering=False,
            test=compile_test,
        )
        truth = compile_test(test, place)(call)
        if truth is (not wanted):
            return False
        found = found and not isinstance(truth, Indeterminate)
    return True if found else None
