"""`ResourceFacts`: what resource tests of one call imply about each other.

A test itself may come out as anything. But the same test is the same for every rule; what is in a
set is in every larger one; and where only resources of one set are accessed, none is of a set that
shares nothing with it. Of paths, each resource that one test says there is has to be what the other
tests say of all resources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from policy.catalog import SchemaView, Verb
from policy.checks import checked
from policy.evaluation import DeclaredResources
from policy.solving import Clauses
from policy.symbolic.accessed_hosts import AccessedHosts
from policy.symbolic.accessed_paths import AccessedPaths, certain_verbs
from policy.symbolic.argument_texts import ArgumentTexts
from policy.symbolic.reading import Scope
from policy.symbolic.related_tests import Meaning, RelatedTests
from policy.symbolic.subjects import Subject
from policy.symbolic.text_value import TextValue
from policy.symbolic.truths import Truths, unknown


class ResourceFacts:
    """The truths of resource tests of one call, consistent with each other."""

    def __init__(
        self,
        clauses: Clauses,
        view: SchemaView,
        *,
        ordinary: int,
        related: RelatedTests | None = None,
        text_of: Callable[[Subject], TextValue | None] = lambda field: None,
    ) -> None:
        self._ordinary = ordinary
        self._clauses = clauses
        self._view = view
        self._related = related or RelatedTests()
        # By the numbers of the tests.
        self._truths: dict[int, Truths] = {}
        self._arguments = ArgumentTexts(clauses, text_of, ordinary=ordinary)
        self._paths: list[tuple[Verb, AccessedPaths]] = []
        self._hosts: list[AccessedHosts] = []

    def truth_of(self, test: checked.ResourceTest, scope: Scope) -> Truths:
        """Return the truth of a test."""
        meaning = resource_meaning(test, scope)
        form, absent_is_false = meaning.form, meaning.absent_is_false
        number = self._related.number(meaning, scope.declared)
        known = self._truths.get(number)
        if known is not None:
            return known
        truth = unknown(self._clauses)
        values = test.operand
        if values is not None and values.kind == "paths" and form != "any":
            paths = self._paths_of(test.verb, scope.declared)
            paths.note(values, form, truth, absent=absent_is_false)
            declared = scope.declared
            self._arguments.note(values, form, truth, verb=test.verb, declared=declared)
        if values is not None and values.kind == "hosts" and form != "any":
            self._hosts_of(scope.declared).note(values, form, truth, absent=absent_is_false)
            self._arguments.note(values, form, truth, verb=test.verb, declared=scope.declared)
        # Also of sets that automata describe: they say nothing of what is indeterminate.
        require_related(self._clauses, self._related, self._truths, number, truth)
        self._truths[number] = truth
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
        tests = tuple(tests)
        covering: dict[str, list[int]] = {}
        for test in tests:
            scope = Scope(declared, absent_is_false=False, covering=True)
            covering.setdefault(test.verb, []).append(self.truth_of(test, scope).holds)
        certain = certain_verbs(self._view, declared)
        found = [self._clauses.any_of(covering.get(verb, ())) for verb in sorted(certain)]
        if "runs" in certain and covering.keys().isdisjoint(("reads", "writes")):
            # No clause covers a redirection, so patterns have to.
            scope = Scope(declared, absent_is_false=False)
            spelled = (self.truth_of(test, scope).holds for test in tests if test.verb == "runs")
            found.append(self._clauses.any_of(spelled))
        return self._clauses.all_of(found)

    def _paths_of(self, verb: Verb, declared: DeclaredResources) -> AccessedPaths:
        for known, paths in self._paths:
            if known == verb and paths.declared.says_the_same(declared):
                return paths
        made = AccessedPaths(self._clauses, self._view, verb, declared, ordinary=self._ordinary)
        self._paths.append((verb, made))
        return made

    def _hosts_of(self, declared: DeclaredResources) -> AccessedHosts:
        for hosts in self._hosts:
            if hosts.declared.says_the_same(declared):
                return hosts
        made = AccessedHosts(self._clauses, self._view, declared, ordinary=self._ordinary)
        self._hosts.append(made)
        return made


def resource_meaning(test: checked.ResourceTest, scope: Scope) -> Meaning:
    """Return what the truth of a resource test depends on."""
    form = "only" if test.operand is not None and not test.operand.included else test.form
    return Meaning(
        verb=test.verb,
        form=form,
        operand=test.operand,
        beside=test.beside,
        surely=test.surely,
        # Only an `only` can be about arguments that are absent; redirections matter to commands.
        absent_is_false=scope.absent_is_false and form == "only",
        covering=(scope.covering or test.any_redirection) and test.verb == "runs",
    )


def require_related(
    clauses: Clauses,
    related: RelatedTests,
    others: Mapping[int, Truths],
    number: int,
    truth: Truths,
) -> None:
    """Require what the truth of a test and those of others, by number, imply for each other."""
    implications = related.implications(number)
    for other, others_truth in others.items():
        for premise, conclusion in implications.get(other, ()):
            literals = (truth.holds, truth.fails, others_truth.holds, others_truth.fails)
            clauses.require(-_literal(literals, premise), _literal(literals, conclusion))


def _literal(literals: tuple[int, ...], number: int) -> int:
    """Return the literal that a number of an implication stands for."""
    found = literals[abs(number) - 1]
    return found if number > 0 else -found
