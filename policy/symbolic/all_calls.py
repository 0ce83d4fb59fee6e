"""`AllCalls`: reads conditions so that every possible call is among the readings.

What is not modelled may come out as anything. So a formula that cannot be satisfied has no call,
while one that can be satisfied need not have any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from policy.catalog import SchemaView, ToolSpec, includes
from policy.checks import LayerKey, checked
from policy.evaluation import DeclaredResources, covering_tests, known_answer
from policy.program import RulePlan
from policy.solving import Clauses, LeftOpen, Model
from policy.symbolic.applying_layers import ApplyingLayers
from policy.symbolic.call_values import CallValues
from policy.symbolic.comparing.compared_values import ComparedValues
from policy.symbolic.comparing.comparisons import equalities_of
from policy.symbolic.comparing.elements import Elements
from policy.symbolic.field_values import demands_more
from policy.symbolic.known_truths import KnownTruths
from policy.symbolic.nested_fields import NestedFields
from policy.symbolic.reading import Scope, compiled, fixed, table
from policy.symbolic.resource_facts import ResourceFacts
from policy.symbolic.samples import simple_subject
from policy.symbolic.situation import Situation
from policy.symbolic.subjects import HISTORY, RESOURCES, Subject, subjects_of
from policy.symbolic.truths import Truths, constant, unknown

# The tests of values that contain no tests.
_OF_VALUES = (
    checked.Comparison,
    checked.LikeTest,
    checked.Membership,
    checked.RegexTest,
    checked.TextRelation,
    checked.TypeTest,
    checked.WindowTest,
)
_OfHistory: TypeAlias = checked.EarlierCall | checked.FoundInLabelled
# The tests that may be about several values, elements of lists, or times.
_OF_SEVERAL_VALUES = (
    checked.Comparison,
    checked.Membership,
    checked.Quantified,
    checked.WindowTest,
)


class AllCalls:
    """A reading of the conditions about one tool, for every call.

    `tests` are all tests that will be asked about; `layers` the keys of all layers; `known` is what
    earlier such readings of the tool have found.
    """

    def __init__(
        self,
        clauses: Clauses,
        spec: ToolSpec,
        view: SchemaView,
        *,
        tests: Iterable[checked.Test],
        layers: Iterable[LayerKey],
        slots: int,
        known: KnownTruths | None = None,
    ) -> None:
        self.clauses = clauses
        self._truths = known or KnownTruths()
        # That values are such as people write, and that paths are read as they are spelled.
        self.ordinary = clauses.variable()
        self._spec = spec
        self._slots = slots
        self._base = Situation(spec=spec, base={})
        tests = tuple(one for test in tests for one in equalities_of(test) or (test,))
        self._elements = Elements(tests)
        self._view = self._elements.view(view)
        tests = (*tests, *self._elements.tests())
        self._windows = [test for test in tests if isinstance(test, checked.WindowTest)]
        self._values = CallValues(
            clauses,
            spec,
            self._view,
            tests=tests,
            layers=layers,
            base=self._base,
            slots=slots,
            ordinary=self.ordinary,
            known=self._truths,
        )
        self._nested = NestedFields(
            clauses, self._view, tests=tests, base=self._base, slots=slots, known=self._truths
        )
        self._applying = ApplyingLayers(clauses, self._values)
        self._known: dict[Any, Truths] = {}
        # The tests that may come out as anything.
        self._open: set[Any] = set()
        # What layers declare, where it differs.
        self._declared: list[DeclaredResources] = []
        self._compared: ComparedValues | None = None
        # The tests of what came before, with what else decides them, and their truths.
        self._earlier: list[tuple[_OfHistory, tuple[object, ...], Truths]] = []
        self._resources = ResourceFacts(
            clauses,
            view,
            ordinary=self.ordinary,
            related=self._truths.related,
            text_of=self._values.any_text_of,
        )

    def leaf(self, test: checked.Test, scope: Scope) -> Truths:
        """Return the truth of a test that is no combination of others."""
        meaning = self._truths.meaning_of(test)
        if isinstance(test, checked.ResourceTest):
            answer = known_answer(test, scope.declared)
            if answer is not None:
                return constant(self.clauses, answer)
            return self._resources.truth_of(test, scope)
        key = (meaning, scope.absent_is_false, self._declared_for(meaning, scope))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._leaf(test, scope)
        return found

    def is_open(self, test: checked.Test, scope: Scope) -> bool:
        """Return whether a test that was read may come out as anything, or nearly so."""
        if isinstance(test, checked.ResourceTest):
            if known_answer(test, scope.declared) is not None:
                return False
            of_sets = test.operand is not None and test.operand.kind in ("paths", "hosts")
            is_listed = scope.declared.complete and "runs" not in scope.declared.verbs
            return not (of_sets and is_listed)
        return self._truths.meaning_of(test) in self._open

    def covered(self, plan: RulePlan, declared: DeclaredResources) -> int:
        """Return the literal that the effects of a call may all be covered by an `allow`."""
        return self._resources.covered(covering_tests(plan.rule.when), declared)

    def applies(self, layer: LayerKey) -> int:
        """Return the literal that a layer applies to the caller."""
        return self._applying.applies(layer)

    def admitted(self) -> int:
        """Return the literal that the caller's role does not deny the call."""
        return self._applying.admitted(self._spec)

    def demands_more(self, subject: Subject) -> bool:
        """Return whether the schema demands more of a field than is modelled, as a `pattern`."""
        return subject[0] == "input" and demands_more(self._view.node(subject[1:]))

    @property
    def left_open(self) -> LeftOpen:
        """Why some of what a call may be was not looked into."""
        return "" if self._compared is None else self._compared.left_open

    def suggested(self, model: Model) -> dict[Subject, Any]:
        """Return values of an assignment with which a call may be shown."""
        found = self._values.suggested(model)
        if self._compared is not None:
            self._compared.suggest(found, model.holding)
        given = {subject: value for subject, value in found.items() if value is not None}
        return {**given, **self._resources.examples(model.holding)}

    def _declared_for(self, meaning: checked.Test, scope: Scope) -> DeclaredResources | None:
        """Return what stands for all that a layer declares, None if a test does not depend on it.

        Resources depend on it, and what came before the call may.
        """
        if subjects_of(meaning).isdisjoint((RESOURCES, HISTORY)):
            return None
        for declared in self._declared:
            if declared.says_the_same(scope.declared):
                return declared
        self._declared.append(scope.declared)
        return scope.declared

    def _leaf(self, test: checked.Test, scope: Scope) -> Truths:
        values, subject = self._values, simple_subject(test)
        matched = values.matched_subject(test) if subject is None else subject
        text = None if matched is None else values.any_text_of(matched)
        if text is not None:
            row = self._truths.row((self._truths.meaning_of(test), scope))
            return text.truth_of(test, compiled(test, scope), row)
        if matched is not None and values.is_listed(matched):
            return self._table(test, scope, matched)
        if subject is not None and values.is_compared(subject):
            return self._table(test, scope, subject)
        if not subjects_of(test):
            call = self._base.evaluation(slots=self._slots)
            return fixed(self.clauses, compiled(test, scope), call)
        nested = self._nested.truth_of(test, scope)
        if nested is not None:
            return nested
        is_known = subjects_of(test).isdisjoint((RESOURCES, HISTORY))
        if is_known and isinstance(test, _OF_SEVERAL_VALUES):
            return self._compared_values().truth_of(test, scope) or self._unknown(test, scope)
        if isinstance(test, checked.EarlierCall | checked.FoundInLabelled):
            return self._of_history(test, scope)
        return self._unknown(test, scope)

    def _of_history(self, test: _OfHistory, scope: Scope) -> Truths:
        """Return the truth of `after` or `from LABEL`.

        With more tools, a longer time and labels that mark more, it holds for more. Where labels
        differ, a test may be indeterminate in place of true, as there is too much to look through.
        """
        found = self._unknown(test, scope)
        declared = self._declared_for(self._truths.meaning_of(test), scope)
        # Only `from` has a value that may be absent.
        place = (declared, isinstance(test, checked.FoundInLabelled) and scope.absent_is_false)
        for other, others_place, truth in self._earlier:
            if others_place != place:
                continue
            for small, less, large, more in (
                (test, found, other, truth),
                (other, truth, test, found),
            ):
                if _is_within(small, large):
                    self.clauses.require(-more.fails, less.fails)
                    if small.labels == large.labels:
                        self.clauses.require(-less.holds, more.holds)
        self._earlier.append((test, place, found))
        return found

    def _compared_values(self) -> ComparedValues:
        if self._compared is None:
            self._compared = ComparedValues(
                self.clauses,
                self,
                self._values,
                tests=self._windows,
                elements=self._elements,
                view=self._view,
                call=self._base.evaluation(slots=self._slots),
            )
        return self._compared

    def _table(self, test: checked.Test, scope: Scope, subject: Subject) -> Truths:
        row = self._truths.row((self._truths.meaning_of(test), scope))
        among = self._values.choices_of(subject)
        return table(self.clauses, lambda: compiled(test, scope), among, row)

    def _unknown(self, test: checked.Test, scope: Scope) -> Truths:
        """Return the truth of a test that may come out as anything.

        Where its value is absent, a test is false or indeterminate, by its scope. So a test that is
        true is true in both scopes, and one that is false in one of them in the other as well.
        """
        self._open.add(self._truths.meaning_of(test))
        if not isinstance(test, _OF_VALUES) or not scope.absent_is_false:
            return unknown(self.clauses)
        other = self.leaf(test, replace(scope, absent_is_false=False))
        if self._values.is_always_there(test.left) and _is_fixed(getattr(test, "right", None)):
            return other
        fails = self.clauses.any_of([other.fails, self.clauses.variable()])
        self.clauses.require(-other.holds, -fails)
        return Truths(other.holds, fails)


def _is_fixed(other: checked.Value | checked.ValueSet | None) -> bool:
    """Return whether what a test compares its value with, if anything, is there for every call."""
    if isinstance(other, checked.Constant):
        return other.value is not None
    return other is None or isinstance(other, checked.ValueSet)


def _is_within(small: _OfHistory, large: _OfHistory) -> bool:
    """Return whether what makes one test true always makes the other one true or indeterminate."""
    match small, large:
        case checked.EarlierCall(), checked.EarlierCall():
            is_shorter = large.within is None or (
                small.within is not None and small.within <= large.within
            )
            return (
                is_shorter
                and includes(large.tools, small.tools)
                and all(
                    includes(large.tools, label.tools) or _is_marked(label, large.labels)
                    for label in small.labels
                )
            )
        case checked.FoundInLabelled(), checked.FoundInLabelled():
            return small.left == large.left and all(
                _is_marked(label, large.labels) for label in small.labels
            )
        case _:
            return False


def _is_marked(small: checked.CheckedLabel, labels: tuple[checked.CheckedLabel, ...]) -> bool:
    """Return whether one of some labels marks, or may mark, all that this one marks."""
    return any(
        includes(one.tools, small.tools)
        and one.when in (None, small.when)
        and one.unless in (None, small.unless)
        and (not one.fields or (small.fields and set(small.fields) <= set(one.fields)))
        and all(output in one.outputs for output in small.outputs)
        for one in labels
    )
