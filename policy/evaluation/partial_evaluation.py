"""Evaluates conditions before an input is known: the truths that each can still have.

Parts that do not depend on the input are evaluated with the current facts, by the same function
that judges calls. Any other part can have any truth value, so the result holds for every input, but
may be less precise than possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Flag, auto
from functools import lru_cache, reduce
from operator import or_
from typing import Any, TypeAlias

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope
from policy.evaluation.conditions import compile_test
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.resource_tests import known_answer
from policy.evaluation.truth import Truth


class PossibleTruths(Flag):
    """The truths that a test may take."""

    TRUE = auto()
    FALSE = auto()
    UNDECIDED = auto()
    ANY = TRUE | FALSE | UNDECIDED

    @property
    def is_sure(self) -> bool:
        """Whether it is true for every input."""
        return self is PossibleTruths.TRUE

    @property
    def may_grant(self) -> bool:
        """Whether a rule that grants with this condition may match."""
        return PossibleTruths.TRUE in self

    @property
    def may_restrict(self) -> bool:
        """Whether a rule that restricts may match; indeterminate is treated as a match."""
        return self is not PossibleTruths.FALSE

    @property
    def surely_restricts(self) -> bool:
        """Whether a rule that restricts with this condition matches every call."""
        return PossibleTruths.FALSE not in self


# The fields of the input that are known; the evaluation has an input with these alone.
Known: TypeAlias = frozenset[str]
PossibleTruthsOf: TypeAlias = Callable[[Evaluation], PossibleTruths]

_SEPARATE = frozenset({"tool", "agent", "session", "user", "workspace", "now", "context"})
# Resource tests follow links and resolve host names, which happens once per call.
_OUTWARD = frozenset({"paths", "hosts", "addresses", "commands"})


def compile_partial(test: checked.Test, place: ConditionScope, known: Known) -> PossibleTruthsOf:
    """Return the function that computes the possible truths of a test from the `known` fields."""
    match test:
        case checked.AllOf(tests=tests):
            return conjunction_of([compile_partial(part, place, known) for part in tests])
        case checked.AnyOf(tests=tests):
            parts = [negation_of(compile_partial(part, place, known)) for part in tests]
            return negation_of(conjunction_of(parts))
        case checked.NotOf(test=part):
            return negation_of(compile_partial(part, place, known))
        case checked.ResourceTest() if (answer := known_answer(test, place.declared)) is not None:
            # The tool's declarations decide it: a tool that writes nothing never `writes X`.
            sure = _certain(answer)
            return lambda call: sure
        case _ if _looks_at_input(test, known):
            return lambda call: PossibleTruths.ANY
        case _:
            decide = compile_test(test, place)
            return lambda call: _certain(decide(call))


def negation_of(truths: PossibleTruthsOf) -> PossibleTruthsOf:
    """Return the possible truths of the negation of a test."""
    return lambda call: _OPPOSITE[truths(call)]


def any_truth(call: Evaluation) -> PossibleTruths:
    """Return every truth value: nothing is known."""
    return PossibleTruths.ANY


def _certain(truth: Truth) -> PossibleTruths:
    if truth is True:
        return PossibleTruths.TRUE
    return PossibleTruths.FALSE if truth is False else PossibleTruths.UNDECIDED


def _negation(truths: PossibleTruths) -> PossibleTruths:
    kept = truths & PossibleTruths.UNDECIDED
    if PossibleTruths.TRUE in truths:
        kept |= PossibleTruths.FALSE
    return kept | PossibleTruths.TRUE if PossibleTruths.FALSE in truths else kept


_ALL = [
    reduce(or_, some)
    for some in (
        (PossibleTruths.TRUE,),
        (PossibleTruths.FALSE,),
        (PossibleTruths.UNDECIDED,),
        (PossibleTruths.TRUE, PossibleTruths.FALSE),
        (PossibleTruths.TRUE, PossibleTruths.UNDECIDED),
        (PossibleTruths.FALSE, PossibleTruths.UNDECIDED),
        (PossibleTruths.ANY,),
    )
]
_OPPOSITE = {truths: _negation(truths) for truths in _ALL}


def conjunction_of(parts: list[PossibleTruthsOf]) -> PossibleTruthsOf:
    """Return the possible truths of the conjunction of tests; without any, it is true."""

    def truths(call: Evaluation) -> PossibleTruths:
        return reduce(_and, (part(call) for part in parts), PossibleTruths.TRUE)

    return truths


def _and(one: PossibleTruths, other: PossibleTruths) -> PossibleTruths:
    """Return the possible truths of Kleene's conjunction of two tests."""
    either = one | other
    found = either & PossibleTruths.FALSE
    if PossibleTruths.TRUE in one and PossibleTruths.TRUE in other:
        found |= PossibleTruths.TRUE
    if PossibleTruths.UNDECIDED in either and _may_hold(one) and _may_hold(other):
        found |= PossibleTruths.UNDECIDED
    return found


def _may_hold(truths: PossibleTruths) -> bool:
    return truths is not PossibleTruths.FALSE


@lru_cache(maxsize=8192)
def _looks_at_input(node: Any, known: Known) -> bool:
    """Return whether a part of a condition depends on unknown fields of the input."""
    match node:
        case checked.FieldOf(base=checked.Fact(path=("input",)), name=name):
            return name not in known
        case checked.Fact(path=path):
            return path[0] not in _SEPARATE
        case checked.ResourceTest():
            return True
        case checked.ValueSet(kind=kind) if kind in _OUTWARD:
            return True
        case tuple() | list():
            return any(_looks_at_input(part, known) for part in node)
        case _ if is_dataclass(node):
            parts = (getattr(node, field.name) for field in fields(node))
            return any(_looks_at_input(part, known) for part in parts if _is_part(part))
        case _:
            return False


def _is_part(value: Any) -> bool:
    return isinstance(value, (tuple, list)) or is_dataclass(value)
