"""`ShownCalls`: reads conditions for calls that can be written down, and finds such a call.

Each field and fact has a few values; what a test gives for each comes from the engine itself. So
every assignment is a call, but not every call is an assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from math import floor
from typing import Any

from policy.catalog import SchemaView, ToolSpec
from policy.checks import LayerKey, checked
from policy.decision import identity_reasons
from policy.evaluation import (
    ABSENT,
    DeclaredResources,
    TestOf,
    compile_cover,
    covering_tests,
)
from policy.layers import applies_to
from policy.program import RulePlan
from policy.programs import NO_PROFILES
from policy.solving import Clauses, Model
from policy.symbolic.evaluated_tests import EvaluatedTests
from policy.symbolic.field_values import accepted_values, bounds_in
from policy.symbolic.known_truths import KnownTruths, Row
from policy.symbolic.nested_fields import nested_samples
from policy.symbolic.reading import Choice, Scope, choices, compiled, fixed, table
from policy.symbolic.resource_samples import argument_samples
from policy.symbolic.samples import (
    complete_samples,
    constants_of,
    guessed_samples,
    is_strange,
    times,
)
from policy.symbolic.situation import NOTHING, SETTABLE, Situation, Values, accepted_input
from policy.symbolic.subjects import DEPTH, NAME, PARENT, RESOURCES, ROLE, Subject, subjects_of
from policy.symbolic.truths import Truths
from policy.values import is_number

_MOST_VALUES = 60  # of one field or fact
_DEEPEST = 32  # agents above a caller
_MOST_NAMES = 6  # of several agents above a caller, who all have one


class ShownCalls:
    """A reading of the conditions about one tool, for calls of a few values.

    `tests` are all tests that will be asked about; `layers` the keys of all layers; `declared` what
    they know of the tool's resources; `suggested` are values that are tried as well; `known` is
    what earlier such readings of the tool have found.
    """

    def __init__(
        self,
        clauses: Clauses,
        spec: ToolSpec,
        view: SchemaView,
        *,
        tests: Iterable[checked.Test],
        layers: Iterable[LayerKey],
        declared: Iterable[DeclaredResources],
        slots: int,
        suggested: Values = NOTHING,
        known: KnownTruths | None = None,
    ) -> None:
        self.clauses = clauses
        self._truths = known or KnownTruths()
        # That values are such as people write.
        self.ordinary = clauses.variable()
        self._view = view
        self._slots = slots
        self._suggested = suggested
        self._layers = tuple(layers)
        self._base = Situation(spec=spec, base=accepted_input(spec))
        declared = tuple(declared)
        self._profiles = declared[0].profiles if declared else NO_PROFILES
        self._resources = tuple({r: None for each in declared for r in each.resources})
        self._of_resources = {("input", resource.steps[0]) for resource in self._resources}
        self._tests: dict[Subject, list[checked.Test]] = {NAME: [], ROLE: []}
        for test in tests:
            for subject in self._subjects(test):
                self._tests.setdefault(subject, []).append(test)
        self._choices: dict[Subject, list[Choice]] = {}
        self._known: dict[Any, Truths] = {}
        self._evaluated: EvaluatedTests | None = None

    def leaf(self, test: checked.Test, scope: Scope) -> Truths:
        """Return the truth of a test that is no combination of others."""
        key = (self._truths.meaning_of(test), scope)
        found = self._known.get(key)
        if found is None:
            subjects = self._subjects(test)
            found = self._table(lambda: compiled(test, scope), subjects, self._truths.row(key))
            self._known[key] = found
        return found

    def covered(self, plan: RulePlan, declared: DeclaredResources) -> int:
        """Return the literal that every effect of the call is covered by an `allow`."""
        tests = tuple(covering_tests(plan.rule.when))
        key = (tests, declared)
        found = self._known.get(key)
        if found is None:
            row = self._truths.row(key)
            found = self._table(lambda: compile_cover(tests, declared), frozenset({RESOURCES}), row)
            self._known[key] = found
        return found.holds

    def applies(self, layer: LayerKey) -> int:
        """Return the literal that a layer applies to the caller."""
        if layer.kind == "every":
            return self.clauses.true
        subject = ROLE if layer.kind == "role" else NAME
        return self.clauses.any_of(
            choice.literal
            for choice in self._choices_of(subject)
            if applies_to(layer, agent=choice.value, role=choice.value)
        )

    def admitted(self) -> int:
        """Return the literal that the caller's role does not deny the call."""
        return self.clauses.any_of(
            choice.literal
            for choice in self._choices_of(ROLE)
            if not any(identity_reasons(choice.call.caller, self._base.spec, None))
        )

    def shown(self, model: Model) -> tuple[Situation, tuple[int, ...]]:
        """Return the call of an assignment, and the literals of its values."""
        chosen = {
            subject: choice
            for subject, among in self._choices.items()
            for choice in among
            if choice.literal in model.holding
        }
        values = {subject: choice.value for subject, choice in chosen.items()}
        return self._base.having(values), tuple(choice.literal for choice in chosen.values())

    def values_of(self, subject: Subject) -> tuple[Any, ...]:
        """Return the values that calls are tried with, those that rules name first."""
        return tuple(choice.value for choice in self._choices.get(subject, ()))

    def _subjects(self, test: checked.Test) -> frozenset[Subject]:
        """Return what a test depends on; a field that is a resource belongs to the resources.

        How many agents are above the caller is as many as the value of `PARENT` names.
        """
        return frozenset(
            RESOURCES if subject in self._of_resources else PARENT if subject == DEPTH else subject
            for subject in subjects_of(test)
        )

    def _table(self, test: Callable[[], TestOf], subjects: frozenset[Subject], row: Row) -> Truths:
        settable = [subject for subject in subjects if self._choices_of(subject)]
        if len(settable) > 1:
            if self._evaluated is None:
                self._evaluated = EvaluatedTests(self.clauses, self._base, slots=self._slots)
            return self._evaluated.truth_of(test, {s: self._choices_of(s) for s in settable})
        if not settable:
            return fixed(self.clauses, test(), self._base.evaluation(slots=self._slots))
        return table(self.clauses, test, self._choices_of(settable[0]), row)

    def _texts_of(self, field: Subject, tests: Iterable[checked.Test]) -> Iterator[str]:
        """Yield strings that conditions compare a field with that is declared as a resource."""
        about = [test for test in tests if field in subjects_of(test)]
        suggested = self._suggested.get(field)
        if about and suggested and isinstance(suggested, str):
            yield suggested
        yield from (text for text in guessed_samples(about) if isinstance(text, str) and text)

    def _choices_of(self, subject: Subject) -> list[Choice]:
        """Return the values of a subject; none if it is the same for every call that is shown."""
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
                if subject in self._suggested and choice.value == self._suggested[subject]:
                    self.clauses.prefer(choice.literal)
        return found

    def _few(self, subject: Subject, values: Iterable[Any]) -> Iterator[Any]:
        """Yield the first of the values, and that which is suggested.

        Of a role, the suggestion may be another spelling of one that rules name; so it comes last.
        """
        few = list(islice(_distinct(values), _MOST_VALUES))
        more = [value for value in self._more(subject) if value not in few]
        yield from (*few, *more) if subject == ROLE else (*more, *few)

    def _more(self, subject: Subject) -> Iterator[Any]:
        """Yield the value that is suggested."""
        fits = _SHAPES.get(subject)
        if subject in self._suggested and (fits is None or fits(self._suggested[subject])):
            yield self._suggested[subject]

    def _chains(self, tests: list[checked.Test], parents: Iterable[Any]) -> Iterator[Any]:
        """Yield several agents above the caller, which all have one name."""
        about = [test for test in tests if DEPTH in subjects_of(test)]
        suggested = self._suggested.get(DEPTH)
        names = (self._base.caller.agent, self._suggested.get(PARENT), *parents)
        texts = dict.fromkeys(name for name in names if isinstance(name, str))
        for depth in _depths(about, suggested) if about else ():
            yield from ((name,) * depth for name in islice(texts, _MOST_NAMES))

    def _values(self, subject: Subject) -> Iterator[Any]:
        tests = self._tests.get(subject, [])
        if subject == RESOURCES:
            found = (test for test in tests if isinstance(test, checked.ResourceTest))
            hinted = {s[1]: value for s, value in self._suggested.items() if s[0] == "call"}
            texts = {field[1]: tuple(self._texts_of(field, tests)) for field in self._of_resources}
            yield from argument_samples(
                self._resources, found, suggested=hinted, texts=texts, profiles=self._profiles
            )
        elif subject == ("now",):
            yield from _distinct((*times(tests), *self._more(subject)))
        elif subject[0] == "input" and len(subject) > 1:
            bounds = bounds_in(self._view, subject[1])
            named = complete_samples(tests, more=bounds)
            values = (*named, *guessed_samples(tests), *nested_samples(subject, tests, self._view))
            yield from self._few(subject, accepted_values(self._view, subject[1], values))
        elif subject in _SHAPES or subject[0] == "context":
            named = _names_in(self._layers, subject)
            usual = getattr(self._base.caller, subject[1], None) if subject in SETTABLE else None
            samples = (*complete_samples(tests, more=named), *guessed_samples(tests), *named)
            # A fact of the context that is null is seldom what people think of.
            values = (*samples, None) if subject[0] == "context" else (usual, *samples)
            fits = _SHAPES.get(subject, lambda value: True)
            yield from self._few(subject, (value for value in values if fits(value)))
            if subject == PARENT:
                yield from self._chains(tests, (value for value in values if fits(value)))


def _depths(tests: Iterable[checked.Test], suggested: Any) -> Iterator[int]:
    """Yield how many agents may be above a caller, around the numbers of tests."""
    constants = (value for test in tests for value in constants_of(test) if is_number(value))
    named = (floor(number) for number in constants if 0 <= number <= _DEEPEST)
    near = (depth + step for depth in named for step in (-1, 0, 1))
    more = [suggested] if isinstance(suggested, int) else []
    yield from sorted({depth for depth in (*near, *more) if 1 < depth <= _DEEPEST})


def _names_in(layers: Iterable[LayerKey], subject: Subject) -> tuple[str, ...]:
    """Return names or roles to which layers apply."""
    if subject not in (NAME, ROLE):
        return ()
    kinds = ("role",) if subject == ROLE else ("agent", "agents")
    names = (name for key in layers if key.kind in kinds for name in key.names)
    found = tuple(name.replace("*", "x").replace("?", "x") for name in names)
    return (*found, "guest", "anonymous") if subject == ROLE else found


def _distinct(values: Iterable[Any]) -> Iterator[Any]:
    """Yield each value once; `1` and `True` are two."""
    seen: list[Any] = []
    for value in values:
        if not any(type(value) is type(other) and value == other for other in seen):
            seen.append(value)
            yield value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_absent(value: Any) -> bool:
    return value is ABSENT or isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


# The values that facts of the caller can have.
_SHAPES: Mapping[Subject, Callable[[Any], bool]] = {
    NAME: _is_text,
    ROLE: _is_text,
    ("session", "id"): _is_text,
    ("user", "id"): _is_text_or_absent,
    PARENT: _is_text_or_absent,
    ("user", "groups"): _is_texts,
}
