"""`AllCalls`: reads conditions so that every possible call is among the readings.

What is not modelled may come out as anything. So a formula that cannot be satisfied has no call,
while one that can be satisfied need not have any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from policy.catalog import SchemaView, ToolSpec
from policy.checks import LayerKey, checked
from policy.decision import identity_reasons
from policy.evaluation import (
    ABSENT,
    DeclaredResources,
    covering_tests,
    known_answer,
)
from policy.layers import applies_to
from policy.model import Caller, GuestScope
from policy.program import RulePlan
from policy.solving import Clauses, LeftOpen, Model
from policy.symbolic.comparing.compared_values import ComparedValues
from policy.symbolic.comparing.comparisons import compared_subjects, equalities_of
from policy.symbolic.comparing.elements import Elements
from policy.symbolic.comparing.equal_texts import ListedText, Text
from policy.symbolic.field_values import accepted_values, bounds_in, is_always_there
from policy.symbolic.known_truths import KnownTruths
from policy.symbolic.patterns.texts import language_of, language_of_names
from policy.symbolic.reading import Choice, Scope, choices, compiled, fixed, table
from policy.symbolic.resource_facts import ResourceFacts
from policy.symbolic.samples import complete_samples, constants_of, is_strange, simple_subject
from policy.symbolic.situation import Situation
from policy.symbolic.strings import Strings
from policy.symbolic.subjects import HISTORY, RESOURCES, Subject, plain_subject, subjects_of
from policy.symbolic.text_value import TextValue
from policy.symbolic.truths import Truths, constant, unknown
from policy.values import is_ordinary

NAME: Subject = ("agent", "name")
ROLE: Subject = ("session", "role")
_ROLES = ("owner", "guest", "anonymous", "")
_ALWAYS_THERE = frozenset({NAME, ROLE, ("session", "id")})
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
# The tests that may be about several values, elements of lists, or times.
_OF_SEVERAL_VALUES = (
    checked.Comparison,
    checked.Membership,
    checked.Quantified,
    checked.WindowTest,
)
_OF_PATTERNS = (checked.LikeTest, checked.RegexTest, checked.TextRelation)
# The facts that are strings, where they are there.
_STRINGS = _ALWAYS_THERE | {("user", "id"), ("agent", "parent")}


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
        self._layers = tuple(layers)
        self._base = Situation(spec=spec, base={})
        self._simple: dict[Subject, list[checked.Test]] = {NAME: [], ROLE: []}
        tests = tuple(one for test in tests for one in equalities_of(test) or (test,))
        self._elements = Elements(tests)
        self._view = self._elements.view(view)
        tests = (*tests, *self._elements.tests())
        self._windows = [test for test in tests if isinstance(test, checked.WindowTest)]
        for test in tests:
            subject = simple_subject(test)
            if subject is not None and self._can_be_set(subject):
                self._simple.setdefault(subject, []).append(test)
        matched = (self._matched_subject(test) for test in tests)
        self._patterns = {found for found in matched if found and self._is_any_text(found)}
        compared = (one for test in tests for one in compared_subjects(test) or ())
        self._patterns |= {one for one in compared if self._may_be_text(one)}
        if any(layer.kind == "agents" for layer in self._layers) and self._is_any_text(NAME):
            self._patterns.add(NAME)
        self._patterns.update(self._tested_paths(tests))
        self._strings = Strings(clauses)
        self._texts: dict[Subject, TextValue] = {}
        self._choices: dict[Subject, list[Choice]] = {}
        self._known: dict[Any, Truths] = {}
        # The tests that may come out as anything.
        self._open: set[Any] = set()
        # What layers declare, where it differs.
        self._declared: list[DeclaredResources] = []
        self._applying: dict[LayerKey, int] = {}
        self._compared: ComparedValues | None = None
        self._resources = ResourceFacts(
            clauses,
            spec,
            ordinary=self.ordinary,
            related=self._truths.related,
            text_of=self._text_of,
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
        found = self._applying.get(layer)
        if found is None:
            found = self._applying[layer] = self._applies(layer)
        return found

    def admitted(self) -> int:
        """Return the literal that the caller's role does not deny the call."""
        scope = GuestScope(allowed_tools=("*",))
        return self.clauses.any_of(
            choice.literal
            for choice in self._choices_of(ROLE)
            if not any(identity_reasons(Caller(role=choice.value, scope=scope), self._spec, None))
        )

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
        subject = simple_subject(test)
        matched = self._matched_subject(test) if subject is None else subject
        if matched in self._patterns and matched is not None:
            row = self._truths.row((self._truths.meaning_of(test), scope))
            return self._text(matched).truth_of(test, compiled(test, scope), row)
        if matched is not None and self.is_listed(matched):
            return self._table(test, scope, matched)
        if subject is not None and subject in self._simple:
            return self._table(test, scope, subject)
        if not subjects_of(test):
            call = self._base.evaluation(slots=self._slots)
            return fixed(self.clauses, compiled(test, scope), call)
        is_known = subjects_of(test).isdisjoint((RESOURCES, HISTORY))
        if is_known and isinstance(test, _OF_SEVERAL_VALUES):
            return self._compared_values().truth_of(test, scope) or self._unknown(test, scope)
        return self._unknown(test, scope)

    def _compared_values(self) -> ComparedValues:
        if self._compared is None:
            self._compared = ComparedValues(
                self.clauses,
                self,
                tests=self._windows,
                elements=self._elements,
                view=self._view,
                call=self._base.evaluation(slots=self._slots),
            )
        return self._compared

    def choices_of_value(self, subject: Subject) -> Sequence[Choice]:
        """Return the values of a field or fact of which one stands for that of the call."""
        return self._choices_of(subject) if self._can_be_set(subject) else ()

    def constants_with(self, subject: Subject) -> Sequence[Any]:
        """Return the constants that the values of a field or fact are told apart by."""
        tests = self._simple.get(subject, ())
        return (*(value for test in tests for value in constants_of(test)), *self._named(subject))

    def is_text(self, subject: Subject) -> bool:
        """Return whether the strings of a field or fact are told apart by languages alone."""
        return subject in self._patterns

    def text_of(self, subject: Subject) -> Text | None:
        """Return the string that a field or fact may be; None if it is not modelled as one."""
        if subject in self._patterns:
            return self._text(subject)
        if self.is_listed(subject):
            return ListedText(self.clauses, self._choices_of(subject))
        return None

    def _may_be_text(self, subject: Subject) -> bool:
        """Return whether a field or fact may be any string, as far as its type says."""
        if subject[0] == "input" and not self._view.lookup((subject[1],)).types & {"string", "any"}:
            return False
        return self._is_any_text(subject)

    def is_listed(self, subject: Subject) -> bool:
        """Return whether a field has one of the values that its schema lists."""
        return subject[0] == "input" and self._view.lookup((subject[1],)).choices is not None

    @property
    def left_open(self) -> LeftOpen:
        """Why some of what a call may be was not looked into."""
        return "" if self._compared is None else self._compared.left_open

    def _table(self, test: checked.Test, scope: Scope, subject: Subject) -> Truths:
        row = self._truths.row((self._truths.meaning_of(test), scope))
        among = self._choices_of(subject)
        return table(self.clauses, lambda: compiled(test, scope), among, row)

    def suggested(self, model: Model) -> dict[Subject, Any]:
        """Return values of an assignment with which a call may be shown."""
        found = {
            subject: choice.value
            for subject, among in self._choices.items()
            for choice in among
            if choice.literal in model.holding and subject not in self._texts
        }
        for subject, text in self._texts.items():
            found[subject] = text.example(model.holding)
        if self._compared is not None:
            self._compared.suggest(found, model.holding)
        given = {subject: value for subject, value in found.items() if value is not None}
        return {**given, **self._resources.examples(model.holding)}

    def _matched_subject(self, test: checked.Test) -> Subject | None:
        """Return the field or fact whose strings a pattern is about."""
        if language_of(test) is None:
            return None
        assert isinstance(test, _OF_PATTERNS)
        subject = plain_subject(test.left)
        # RE2 reads no string that is not valid Unicode, which only the input never is.
        is_input = subject is not None and subject[0] == "input"
        return None if isinstance(test, checked.RegexTest) and not is_input else subject

    def _is_any_text(self, subject: Subject) -> bool:
        """Return whether a field or fact may be any string, and every test names plain ones."""
        if subject == ROLE or not self._can_be_set(subject):
            return False
        if self.is_listed(subject):
            return False
        tests = self._simple.setdefault(subject, [])
        named = (value for test in tests for value in constants_of(test))
        return all(is_ordinary(value) for value in named if isinstance(value, str))

    def _tested_paths(self, tests: Iterable[checked.Test]) -> Iterator[Subject]:
        """Yield the fields that resources are declared by, where conditions compare their text."""
        if any(isinstance(test, checked.ResourceTest) for test in tests):
            named = {("input", each.steps[0]) for each in self._spec.resources if each.steps}
            for subject, about in self._simple.items():
                if subject in named and about and self._is_any_text(subject):
                    yield subject

    def _text_of(self, subject: Subject) -> TextValue | None:
        """Return the value of a field whose text conditions compare; None for any other."""
        return self._text(subject) if subject in self._patterns else None

    def _text(self, subject: Subject) -> TextValue:
        """Return the value of a field or fact that patterns are about."""
        found = self._texts.get(subject)
        if found is None:
            among = self._choices_of(subject)
            found = TextValue(self.clauses, self._strings, among, ordinary=self.ordinary)
            self._texts[subject] = found
        return found

    def _unknown(self, test: checked.Test, scope: Scope) -> Truths:
        """Return the truth of a test that may come out as anything.

        Where its value is absent, a test is false or indeterminate, by its scope. So a test that is
        true is true in both scopes, and one that is false in one of them in the other as well.
        """
        self._open.add(self._truths.meaning_of(test))
        if not isinstance(test, _OF_VALUES) or not scope.absent_is_false:
            return unknown(self.clauses)
        other = self.leaf(test, replace(scope, absent_is_false=False))
        if self._is_always_there(test.left) and _is_fixed(getattr(test, "right", None)):
            return other
        fails = self.clauses.any_of([other.fails, self.clauses.variable()])
        self.clauses.require(-other.holds, -fails)
        return Truths(other.holds, fails)

    def _is_always_there(self, value: checked.Value) -> bool:
        subject = plain_subject(value)
        if subject is None:
            return False
        if subject[0] == "input":
            return is_always_there(self._view, subject[1])
        return subject in _ALWAYS_THERE

    def _choices_of(self, subject: Subject) -> list[Choice]:
        """Return values of which exactly one stands for that of the call."""
        found = self._choices.get(subject)
        if found is None:
            found = self._choices[subject] = choices(
                self.clauses,
                self._base,
                subject,
                self._values(subject),
                slots=self._slots,
                known=self._truths,
            )
            for choice in found:
                if is_strange(choice.value):
                    self.clauses.require(-self.ordinary, -choice.literal)
        return found

    def _values(self, subject: Subject) -> tuple[Any, ...]:
        values = complete_samples(self._simple.get(subject, ()), more=self._named(subject))
        if subject in self._patterns:
            values = tuple(v for v in values if not isinstance(v, str) or is_ordinary(v))
        if subject[0] == "input":
            return accepted_values(self._view, subject[1], values)
        if subject[0] == "context":
            return (None, *values)
        texts = tuple(value for value in values if isinstance(value, str))
        if subject == ROLE:
            return tuple(dict.fromkeys((*texts, *map(str.upper, texts), *(f" {t}" for t in texts))))
        return texts if subject in _ALWAYS_THERE else (ABSENT, *texts)

    def _named(self, subject: Subject) -> tuple[Any, ...]:
        """Return what headers of layers compare a fact with, and the schema a field."""
        if subject[0] == "input":
            return bounds_in(self._view, subject[1])
        if subject == ROLE:
            return (*_ROLES, *self._names_of("role"))
        return self._names_of("agent") if subject == NAME else ()

    def _names_of(self, kind: str) -> tuple[str, ...]:
        return tuple(name for key in self._layers if key.kind == kind for name in key.names)

    def _can_be_set(self, subject: Subject) -> bool:
        return subject[0] in ("input", "context") or subject in _STRINGS

    def _applies(self, layer: LayerKey) -> int:
        match layer.kind:
            case "every":
                return self.clauses.true
            case "role":
                return self.clauses.any_of(
                    choice.literal
                    for choice in self._choices_of(ROLE)
                    if applies_to(layer, agent="", role=choice.value)
                )
            case _:
                return self.clauses.any_of(self._applying_names(layer))

    def _applying_names(self, layer: LayerKey) -> Iterator[int]:
        """Yield literals of which one holds if a layer applies to the agent of the call.

        Where a name is not modelled as a string, one that nothing spells out stands for all others,
        which patterns may match or not.
        """
        if NAME in self._patterns:
            language = language_of_names(layer.names, patterns=layer.kind == "agents")
            # Too many names at once may be matched or not.
            if language is None:
                yield self.clauses.variable()
            else:
                yield self._text(NAME).is_spelled_in(language)
            return
        spelled = set(self._named(NAME))
        for test in self._simple[NAME]:
            spelled.update(constants_of(test))
        for choice in self._choices_of(NAME):
            if choice.value in spelled or layer.kind == "agent":
                if applies_to(layer, agent=choice.value, role=""):
                    yield choice.literal
            else:
                yield self.clauses.all_of([choice.literal, self.clauses.variable()])


def _is_fixed(other: checked.Value | checked.ValueSet | None) -> bool:
    """Return whether what a test compares its value with, if anything, is there for every call."""
    if isinstance(other, checked.Constant):
        return other.value is not None
    return other is None or isinstance(other, checked.ValueSet)
