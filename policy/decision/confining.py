"""Draws the `Confinement` of a call from the rules: what its code may touch without being judged.

Whatever the code does within it, the rules would decide the call as they did if they saw it all: in
each layer the same `allow` matches, and nothing that denies or asks matches which did not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import msgspec

from policy.catalog import ToolSpec
from policy.decision.rule_outcome import evaluation_of
from policy.evaluation import (
    MOST_WAYS,
    NOTHING,
    DeclaredResources,
    Evaluation,
    Limit,
    Way,
    Ways,
    all_ways,
    sandbox_of,
)
from policy.model import (
    CONFINED_VERBS,
    Bound,
    Caller,
    ConfinedVerb,
    Confinement,
    Decision,
    Facts,
    NamedResources,
    ResourceSet,
    Verdict,
)
from policy.program import Clause, LayerPlan, Program, RulePlan

_EVERYTHING = {"reads": "/**", "writes": "/**", "connects": "*"}


def with_confinement(
    program: Program, decision: Decision, *, caller: Caller, facts: Facts
) -> Decision:
    """Return a decision with the confinement of its call, for a call that starts code.

    `caller` and `facts` are those that the call was decided with.
    """
    found = confinement_of(program, decision, caller=caller, facts=facts)
    return decision if found is None else msgspec.structs.replace(decision, confinement=found)


def confinement_of(
    program: Program, decision: Decision, *, caller: Caller, facts: Facts
) -> Confinement | None:
    """Return what the code of a call may touch.

    None for a denial, a tool that starts no code, and where no sandbox confines it.
    """
    if decision.verdict is Verdict.DENY:
        return None
    root = evaluation_of(program, decision.call, caller=caller, facts=facts)
    if root is None or sandbox_of(root.spec, facts) is None:
        return None
    found = _Bounds()
    starts_code = False
    for one in caller.chain():
        call = root if one is caller else root.for_caller(one)
        for layer in program.plan(root.spec, agent=one.agent, role=one.role).layers:
            starts_code = starts_code or _starts_code(root.spec, layer.declared)
            _confine_by_layer(found, layer, call)
    return found.confinement() if starts_code else None


def _starts_code(spec: ToolSpec, declared: DeclaredResources) -> bool:
    of_plugin_or_server = spec.origin.kind != "host"
    return of_plugin_or_server or spec.exec_class or declared.unseen or "runs" in declared.verbs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grant:
    """One way to keep an `allow` matching; `rule` is its name."""

    rule: str
    way: Way

    def limits(self, verb: ConfinedVerb) -> tuple[Limit, ...]:
        """Return its limits of one verb."""
        return tuple(limit for limit in self.way.limits if limit.verb == verb)

    def is_narrower_than(self, other: _Grant) -> bool:
        """Return whether it has all limits of another one, and more."""
        return set(self.way.limits) > set(other.way.limits)


class _Bounds:
    """What the layers have set so far, by verb."""

    def __init__(self) -> None:
        self._within: dict[ConfinedVerb, dict[tuple[NamedResources, ...], None]] = {}
        self._without: dict[ConfinedVerb, dict[NamedResources, None]] = {}
        self._relied_on: set[ConfinedVerb] = set()

    def within(self, verb: ConfinedVerb, union: tuple[NamedResources, ...]) -> None:
        """Bound a verb to what one of these sets covers."""
        self._within.setdefault(verb, {})[union] = None

    def limit(self, rule: str, limit: Limit) -> None:
        """Bound a verb by one limit of a rule."""
        named = NamedResources(rule=rule, resources=limit.resources)
        if limit.outside:
            self._without.setdefault(limit.verb, {})[named] = None
        else:
            self.within(limit.verb, (named,))

    def rely_on(self, verbs: Iterable[ConfinedVerb]) -> None:
        """Note that the call is allowed only because a sandbox bounds these verbs."""
        self._relied_on.update(verbs)

    def confinement(self) -> Confinement:
        """Return the bounds as a confinement."""
        relied_on = tuple(verb for verb in CONFINED_VERBS if verb in self._relied_on)
        reads, writes, connects = map(self._bound, CONFINED_VERBS)
        return Confinement(reads=reads, writes=writes, connects=connects, relied_on=relied_on)

    def _bound(self, verb: ConfinedVerb) -> Bound | None:
        within = tuple(self._within.get(verb, ()))
        without = tuple(self._without.get(verb, ()))
        return Bound(within=within, without=without) if within or without else None


def _confine_by_layer(found: _Bounds, layer: LayerPlan, call: Evaluation) -> None:
    grants = [
        _Grant(rule=rule.reason.rule, way=way)
        for rule in layer.allows
        if rule.matches(call) is True
        for way in _ways_of_allow(rule, layer.declared, call)
    ]
    if grants:
        _allow(found, _widest(grants))
    for rule in layer.restricting:
        if rule.matches(call) is False:
            way = _fewest(_ways_not_to_match(rule, call))
            found.rely_on(way.relied_on)
            for limit in way.limits:
                found.limit(rule.reason.rule, limit)


def _ways_of_allow(rule: RulePlan, declared: DeclaredResources, call: Evaluation) -> Iterator[Way]:
    """Yield the ways to keep a matching `allow`: clauses hold, and cover what the code does."""
    for way in all_ways(_ways_of_clause(clause, call) for clause in rule.clauses):
        if not rule.more or ("runs" in way.covers and "runs" in declared.verbs):
            yield way
            continue
        uncovered = [verb for verb in CONFINED_VERBS if verb not in way.covers]
        bounded = call.effects(declared).within_sandbox
        yield way.together(
            Way(
                limits=tuple(Limit(verb=verb, resources=NOTHING) for verb in uncovered),
                relied_on=frozenset(verb for verb in uncovered if verb in bounded),
            )
        )


def _ways_of_clause(clause: Clause, call: Evaluation) -> Ways:
    """Return the ways to keep a clause of an `allow`; only its `when` covers effects."""
    ways = clause.ways(call)
    if clause.keyword == "when":
        return ways
    return tuple(replace(way, covers=frozenset()) for way in ways)


def _ways_not_to_match(rule: RulePlan, call: Evaluation) -> Ways:
    """Return the ways to keep a rule from matching: one of its clauses does."""
    return tuple(
        way
        for clause in rule.clauses
        if clause.test(call) is (clause.keyword != "when")
        for way in clause.ways(call)
    )


def _fewest(ways: Ways) -> Way:
    """Return the way with the fewest limits, the first among equals."""
    return min(ways, key=lambda way: len(way.limits))


def _widest(grants: Sequence[_Grant]) -> list[_Grant]:
    """Return the grants without those whose limits are more than another one has."""
    distinct = {frozenset(grant.way.limits): grant for grant in reversed(grants)}
    first = [grant for grant in grants if distinct[frozenset(grant.way.limits)] is grant]
    return [grant for grant in first if not any(map(grant.is_narrower_than, first))]


def _allow(found: _Bounds, grants: Sequence[_Grant]) -> None:
    """Bound the code by the grants of a layer.

    Grants that differ in one verb are joined: what one of them covers. Of grants that differ in
    more, code could combine what none of them allows together, so that only the first counts.
    """
    first, *others = grants
    differing = [
        (verbs[0], other) for other in others if len(verbs := _differences(first, other)) == 1
    ]
    joined = [first]
    varied = differing[0][0] if differing else None
    joined += [other for verb, other in differing if verb == varied]
    for verb in CONFINED_VERBS:
        if verb == varied:
            for union in _union(verb, joined):
                found.within(verb, union)
        else:
            for limit in first.limits(verb):
                found.limit(first.rule, limit)
    for grant in joined:
        found.rely_on(grant.way.relied_on)


def _differences(one: _Grant, other: _Grant) -> list[ConfinedVerb]:
    return [v for v in CONFINED_VERBS if set(one.limits(v)) != set(other.limits(v))]


def _union(verb: ConfinedVerb, grants: Sequence[_Grant]) -> Iterator[tuple[NamedResources, ...]]:
    """Yield unions which together hold what all limits of one of the grants hold."""
    sides: list[list[NamedResources]] = []
    unions = 1
    for grant in grants:
        limits = grant.limits(verb)
        unions *= len(limits)
        # Without the others, less is allowed.
        if unions <= MOST_WAYS:
            sides.append([_named(grant.rule, limit) for limit in limits])
    yield from (tuple(dict.fromkeys(union)) for union in product(*sides))


def _named(rule: str, limit: Limit) -> NamedResources:
    resources = limit.resources
    if limit.outside:
        everything = _EVERYTHING[limit.verb]
        resources = ResourceSet(included=(everything,), excluded=(resources,))
    return NamedResources(rule=rule, resources=resources)
