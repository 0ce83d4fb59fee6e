"""What code must keep to, so that a condition about a call stays as it is.

Code that a call starts reads, writes and connects where the call does not show it. Had the call
shown it, the condition could have come out otherwise. It would not, as long as each access is one
that the resource tests of the condition tell nothing new by: what is within the set of an `only`
that is true, and outside of the sets of the tests that are false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope, TestOf
from policy.evaluation.conditions import compile_test
from policy.evaluation.enforced_sets import resource_set
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.resource_tests import is_covering, resource_tests_in, unseen_effects
from policy.evaluation.truth import Truth
from policy.model import CONFINED_VERBS, ConfinedVerb, ResourceSet

# Conditions with more ways to be kept are kept in one of the first.
MOST_WAYS = 32
NOTHING = ResourceSet(included=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What code may access with a verb: only what is in a set, or (`outside`) what is not."""

    verb: ConfinedVerb
    resources: ResourceSet
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to keep a condition: all of its `limits` hold.

    `covers` are the verbs of which true clauses cover all effects; `relied_on` those that are true
    only because a sandbox enforces the limit.
    """

    limits: tuple[Limit, ...] = ()
    covers: frozenset[str] = frozenset()
    relied_on: frozenset[ConfinedVerb] = frozenset()

    def together(self, other: Way) -> Way:
        """Return the way to keep both conditions."""
        return Way(
            limits=tuple(dict.fromkeys((*self.limits, *other.limits))),
            covers=self.covers | other.covers,
            relied_on=self.relied_on | other.relied_on,
        )


Ways: TypeAlias = tuple[Way, ...]
# The ways to keep a condition as it is for a call. One that is indeterminate need not be kept.
WaysOf: TypeAlias = Callable[[Evaluation], Ways]
_FREE = Way()


def ways_to_keep(test: checked.Test, scope: ConditionScope) -> WaysOf:
    """Return the function for the ways to keep a condition; compiled when it is first asked."""
    compiled: list[WaysOf] = []

    def ways(call: Evaluation) -> Ways:
        if not compiled:
            compiled.append(_compile(test, scope))
        return compiled[0](call)

    return ways


def all_ways(parts: Iterable[Ways]) -> Ways:
    """Return the ways to keep all of several conditions."""
    found: Ways = (_FREE,)
    for ways in parts:
        both = (one.together(other) for one, other in product(found, ways))
        found = tuple(dict.fromkeys(islice(both, MOST_WAYS)))
    return found


def _compile(test: checked.Test, scope: ConditionScope) -> WaysOf:
    match test:
        case checked.AllOf(tests=tests):
            return _combination(test, tests, scope, settled_by=False)
        case checked.AnyOf(tests=tests):
            return _combination(test, tests, scope, settled_by=True)
        case checked.NotOf(test=inner):
            return _compile(inner, scope)
        case checked.ResourceTest():
            return _of_resources(test, scope)
        case checked.Quantified(test=inner):
            # It may be true of one element and false of another: it is kept if no resource test in
            # it changes.
            parts = [_of_resources(each, scope) for each in resource_tests_in(inner)]
            return lambda call: all_ways(keep(call) for keep in parts)
        case _:
            return lambda call: (_FREE,)


def _combination(
    test: checked.Test, parts: tuple[checked.Test, ...], scope: ConditionScope, *, settled_by: bool
) -> WaysOf:
    """Return the ways to keep a conjunction, which one false part settles, or a disjunction."""
    decide = compile_test(test, scope)
    compiled: list[tuple[TestOf, WaysOf]] = [
        (compile_test(each, scope), _compile(each, scope)) for each in parts
    ]

    def ways(call: Evaluation) -> Ways:
        if decide(call) is not settled_by:
            return all_ways(keep(call) for _, keep in compiled)
        found = (way for one, keep in compiled if one(call) is settled_by for way in keep(call))
        return tuple(dict.fromkeys(islice(found, MOST_WAYS)))

    return ways


def _of_resources(test: checked.ResourceTest, scope: ConditionScope) -> WaysOf:
    decide = compile_test(test, scope)
    verb = next((each for each in CONFINED_VERBS if each == test.verb), None)
    covered = frozenset({str(test.verb)}) if is_covering(test) else frozenset[str]()

    def ways(call: Evaluation) -> Ways:
        truth = decide(call)
        covers = covered if truth is True else frozenset[str]()
        if verb is None:
            # No sandbox bounds which programs code runs, and to whom it sends.
            return (Way(covers=covers),)
        limit = _limit(test, verb, truth, call, scope)
        if limit is None:
            return (Way(covers=covers),)
        relied = truth is True and unseen_effects(verb, call.effects(scope.declared)) is not None
        relied_on = frozenset({verb}) if relied else frozenset[ConfinedVerb]()
        return (Way(limits=(limit,), covers=covers, relied_on=relied_on),)

    return ways


def _limit(
    test: checked.ResourceTest,
    verb: ConfinedVerb,
    truth: Truth,
    call: Evaluation,
    scope: ConditionScope,
) -> Limit | None:
    """Return what keeps a test as it is; None if no further access can change it."""
    if not isinstance(truth, bool):
        return None
    values = test.operand
    if values is None:
        unlimited = truth or test.permits
        return None if unlimited else Limit(verb=verb, resources=NOTHING)
    only = test.form == "only" or not values.included
    effects = call.effects(scope.declared)
    if truth is not only:
        # Where no argument names a resource, the first one that code accesses makes `only` true.
        nothing = only and verb in effects.absent and not effects.of(verb)
        return Limit(verb=verb, resources=NOTHING) if nothing else None
    paths = effects.paths
    if only or test.form == "outside":
        return Limit(verb=verb, resources=resource_set(values, paths))
    named = resource_set(values, paths, at_least=True)
    return Limit(verb=verb, resources=named, outside=True)
