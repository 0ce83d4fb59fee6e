"""`ResourceFacts`: what resource tests of one call imply about each other.

A test itself may come out as anything. But the same test is the same for every rule; what is in a
set is in every larger one; and where only resources of one set are accessed, none is of a set that
shares nothing with it. Of paths, each resource that one test says there is has to be what the other
tests say of all resources.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policy.catalog import ToolSpec, Verb
from policy.checks import checked
from policy.evaluation import DeclaredResources, is_enforceable
from policy.solving import Clauses
from policy.symbolic.accessed_hosts import AccessedHosts
from policy.symbolic.accessed_paths import AccessedPaths, certain_verbs
from policy.symbolic.reading import Scope
from policy.symbolic.set_relations import includes, shares_nothing
from policy.symbolic.situation import HOME, WORKSPACE
from policy.symbolic.subjects import Subject
from policy.symbolic.truths import Truths, unknown
from policy.values import PathContext


@dataclass(frozen=True, slots=True, eq=False)
class _Fact:
    """One resource test and its truth."""

    test: checked.ResourceTest
    declared: DeclaredResources
    truth: Truths
    key: tuple[object, ...]


class ResourceFacts:
    """The truths of resource tests of one call, consistent with each other."""

    def __init__(self, clauses: Clauses, spec: ToolSpec, *, ordinary: int) -> None:
        self._ordinary = ordinary
        self._clauses = clauses
        self._spec = spec
        self._facts: dict[tuple[object, ...], list[_Fact]] = {}
        self._paths: list[tuple[Verb, AccessedPaths]] = []
        self._hosts: list[AccessedHosts] = []

    def truth_of(self, test: checked.ResourceTest, scope: Scope) -> Truths:
        """Return the truth of a test."""
        form = "only" if test.operand is not None and not test.operand.included else test.form
        # Only an `only` can be about arguments that are absent; redirections matter to commands.
        absent_is_false = scope.absent_is_false and form == "only"
        covering = (scope.covering or test.any_redirection) and test.verb == "runs"
        key = (test.verb, form, test.operand, test.beside, test.surely, absent_is_false, covering)
        for fact in self._facts.get(key, ()):
            if fact.declared.says_the_same(scope.declared):
                return fact.truth
        truth = unknown(self._clauses)
        values = test.operand
        if values is not None and values.kind == "paths" and form != "any":
            paths = self._paths_of(test.verb, scope.declared)
            paths.note(values, form, truth, absent=absent_is_false)
        if values is not None and values.kind == "hosts" and form != "any":
            self._hosts_of(scope.declared).note(values, form, truth, absent=absent_is_false)
        made = _Fact(test, scope.declared, truth, key)
        # Also of sets that automata describe: they say nothing of what is indeterminate.
        for fact in (each for facts in self._facts.values() for each in facts):
            if fact.declared.says_the_same(made.declared):
                self._relate(fact, made)
                self._relate(made, fact)
        self._facts.setdefault(key, []).append(made)
        return truth

    def examples(self, holding: frozenset[int]) -> dict[Subject, tuple[str, ...]]:
        """Return paths and URLs that an assignment says there are, by their verbs."""
        found: dict[Subject, list[str]] = {}
        for verb, paths in self._paths:
            found.setdefault(("call", verb), []).extend(paths.examples(holding))
        for hosts in self._hosts:
            found.setdefault(("call", "connects"), []).extend(hosts.examples(holding))
        return {subject: tuple(texts) for subject, texts in found.items()}

    def covered(self, tests: Iterable[checked.ResourceTest], declared: DeclaredResources) -> int:
        """Return the literal that the effects of a call may be covered by these clauses."""
        covering: dict[str, list[int]] = {}
        for test in tests:
            scope = Scope(declared, absent_is_false=False, covering=True)
            covering.setdefault(test.verb, []).append(self.truth_of(test, scope).holds)
        return self._clauses.all_of(
            self._clauses.any_of(covering.get(verb, ()))
            for verb in sorted(certain_verbs(self._spec, declared))
        )

    def _paths_of(self, verb: Verb, declared: DeclaredResources) -> AccessedPaths:
        for known, paths in self._paths:
            if known == verb and paths.declared.says_the_same(declared):
                return paths
        made = AccessedPaths(self._clauses, self._spec, verb, declared, ordinary=self._ordinary)
        self._paths.append((verb, made))
        return made

    def _hosts_of(self, declared: DeclaredResources) -> AccessedHosts:
        for hosts in self._hosts:
            if hosts.declared.says_the_same(declared):
                return hosts
        made = AccessedHosts(self._clauses, self._spec, declared, ordinary=self._ordinary)
        self._hosts.append(made)
        return made

    def _relate(self, one: _Fact, other: _Fact) -> None:
        """Require what the truth of one test implies for another one."""
        form, verb = one.key[1], one.test.verb
        small, large = one.test.operand, other.test.operand
        if verb != other.test.verb or small is None or large is None:
            return
        if one.key[:2] + one.key[3:] == other.key[:2] + other.key[3:] and includes(large, small):
            # In a larger set: more is in it, and less is outside of it.
            smaller, larger = (other, one) if form == "outside" else (one, other)
            if form != "only" or _is_as_enforceable(small, large, one.declared):
                self._implies(smaller.truth.holds, larger.truth.holds)
            self._implies(larger.truth.fails, smaller.truth.fails)
        if one.key[:5] + one.key[6:] == other.key[:5] + other.key[6:]:
            # The two differ in what an absent argument means: indeterminate, or false.
            self._implies(one.truth.holds, other.truth.holds)
            if other.key[5]:
                self._implies(one.truth.fails, other.truth.fails)
        if form == "only" and other.key[1] == "some" and shares_nothing(small, large):
            self._implies(one.truth.holds, -other.truth.holds)
            if other.declared.complete and "runs" not in other.declared.verbs:
                self._implies(one.truth.holds, other.truth.fails)
        if form == "only" and other.key[1] == "outside" and small == large:
            self._implies(other.truth.holds, -one.truth.holds)
            if other.declared.complete and "runs" not in other.declared.verbs:
                self._implies(one.truth.holds, other.truth.fails)

    def _implies(self, one: int, other: int) -> None:
        self._clauses.require(-one, other)


def _is_as_enforceable(
    small: checked.ValueSet, large: checked.ValueSet, declared: DeclaredResources
) -> bool:
    """Return whether a sandbox that keeps code within a set also makes a larger one hold."""
    if not declared.unseen and "runs" not in declared.verbs:
        return True
    paths = PathContext(home=HOME, workspace=WORKSPACE)
    return is_enforceable(large, paths) or not is_enforceable(small, paths)
