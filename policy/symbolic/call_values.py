"""`CallValues`: the values that fields and facts may have, so that every call has some of them.

A field or fact that conditions compare with constants has one of a few values, which stand for all.
A string that patterns or other values are about is any string, told apart by languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policy.catalog import SchemaView, ToolSpec
from policy.checks import LayerKey, checked
from policy.evaluation import ABSENT
from policy.solving import Clauses, Model
from policy.symbolic.comparing.comparisons import compared_subjects
from policy.symbolic.comparing.equal_texts import ListedText, Text
from policy.symbolic.field_values import accepted_values, bounds_in, is_always_there
from policy.symbolic.known_truths import KnownTruths
from policy.symbolic.patterns.texts import language_of
from policy.symbolic.reading import Choice, choices
from policy.symbolic.samples import complete_samples, constants_of, is_strange, simple_subject
from policy.symbolic.situation import Situation
from policy.symbolic.strings import Strings
from policy.symbolic.subjects import NAME, ROLE, Subject, plain_subject
from policy.symbolic.text_value import TextValue
from policy.values import is_ordinary

_ROLES = ("owner", "guest", "anonymous", "")
_ALWAYS_THERE = frozenset({NAME, ROLE, ("session", "id")})
# The facts that are strings, where they are there.
_STRINGS = _ALWAYS_THERE | {("user", "id"), ("agent", "parent")}
_OF_PATTERNS = (checked.LikeTest, checked.RegexTest, checked.TextRelation)


class CallValues:
    """The values of the fields and facts of one call.

    `tests` are all tests that will be asked about; `layers` the keys of all layers. Calls differ
    from `base` in these values; `ordinary` is the literal that they are such as people write.
    """

    def __init__(
        self,
        clauses: Clauses,
        spec: ToolSpec,
        view: SchemaView,
        *,
        tests: Sequence[checked.Test],
        layers: Iterable[LayerKey],
        base: Situation,
        slots: int,
        ordinary: int,
        known: KnownTruths,
    ) -> None:
        self._clauses = clauses
        self._spec = spec
        self._view = view
        self._layers = tuple(layers)
        self._base = base
        self._slots = slots
        self._ordinary = ordinary
        self._known = known
        # The tests that compare one field or fact with constants, by it.
        self._compared: dict[Subject, list[checked.Test]] = {NAME: [], ROLE: []}
        for test in tests:
            subject = simple_subject(test)
            if subject is not None and self._can_be_set(subject):
                self._compared.setdefault(subject, []).append(test)
        # The fields and facts that may be any string.
        self._any_texts = set(self._any_texts_in(tests))
        if any(layer.kind == "agents" for layer in self._layers) and self._is_any_text(NAME):
            self._any_texts.add(NAME)
        self._any_texts.update(self._tested_paths(tests))
        self._strings = Strings(clauses)
        self._texts: dict[Subject, TextValue] = {}
        self._choices: dict[Subject, list[Choice]] = {}

    def is_compared(self, subject: Subject) -> bool:
        """Return whether the values of a field or fact stand for all that tests compare it with."""
        return subject in self._compared

    def is_text(self, subject: Subject) -> bool:
        """Return whether the strings of a field or fact are told apart by languages alone."""
        return subject in self._any_texts

    def is_listed(self, subject: Subject) -> bool:
        """Return whether a field has one of the values that its schema lists."""
        return subject[0] == "input" and self._view.lookup((subject[1],)).choices is not None

    def is_always_there(self, value: checked.Value) -> bool:
        """Return whether a value is a field or fact that is never absent."""
        subject = plain_subject(value)
        if subject is None:
            return False
        if subject[0] == "input":
            return is_always_there(self._view, subject[1])
        return subject in _ALWAYS_THERE

    def matched_subject(self, test: checked.Test) -> Subject | None:
        """Return the field or fact whose strings a pattern is about."""
        if language_of(test) is None:
            return None
        assert isinstance(test, _OF_PATTERNS)
        subject = plain_subject(test.left)
        # RE2 reads no string that is not valid Unicode, which only the input never is.
        is_input = subject is not None and subject[0] == "input"
        return None if isinstance(test, checked.RegexTest) and not is_input else subject

    def constants_with(self, subject: Subject) -> Sequence[Any]:
        """Return the constants that the values of a field or fact are told apart by."""
        tests = self._compared.get(subject, ())
        return (*(value for test in tests for value in constants_of(test)), *self._named(subject))

    def choices_of_value(self, subject: Subject) -> Sequence[Choice]:
        """Return the values of a field or fact of which one stands for that of the call."""
        return self.choices_of(subject) if self._can_be_set(subject) else ()

    def choices_of(self, subject: Subject) -> Sequence[Choice]:
        """Return values of which exactly one stands for that of the call."""
        found = self._choices.get(subject)
        if found is None:
            found = self._choices[subject] = choices(
                self._clauses,
                self._base,
                subject,
                self._values(subject),
                slots=self._slots,
                known=self._known,
            )
            for choice in found:
                if is_strange(choice.value):
                    self._clauses.require(-self._ordinary, -choice.literal)
        return found

    def any_text_of(self, subject: Subject) -> TextValue | None:
        """Return the value of a field or fact that may be any string; None for any other."""
        if subject not in self._any_texts:
            return None
        found = self._texts.get(subject)
        if found is None:
            among = self.choices_of(subject)
            found = TextValue(self._clauses, self._strings, among, ordinary=self._ordinary)
            self._texts[subject] = found
        return found

    def text_of(self, subject: Subject) -> Text | None:
        """Return the string that a field or fact may be; None if it is not modelled as one."""
        if self.is_listed(subject) and subject not in self._any_texts:
            return ListedText(self._clauses, self.choices_of(subject))
        return self.any_text_of(subject)

    def suggested(self, model: Model) -> dict[Subject, Any]:
        """Return the values of an assignment; None for a string that was not found."""
        found = {
            subject: choice.value
            for subject, among in self._choices.items()
            for choice in among
            if choice.literal in model.holding and subject not in self._texts
        }
        for subject, text in self._texts.items():
            found[subject] = text.example(model.holding)
        return found

    def _any_texts_in(self, tests: Sequence[checked.Test]) -> Iterator[Subject]:
        """Yield the fields and facts that patterns or each other's values are about."""
        for subject in map(self.matched_subject, tests):
            if subject and self._is_any_text(subject):
                yield subject
        for test in tests:
            for subject in compared_subjects(test) or ():
                if self._may_be_text(subject):
                    yield subject

    def _may_be_text(self, subject: Subject) -> bool:
        """Return whether a field or fact may be any string, as far as its type says."""
        if subject[0] == "input" and not self._view.lookup((subject[1],)).types & {"string", "any"}:
            return False
        return self._is_any_text(subject)

    def _is_any_text(self, subject: Subject) -> bool:
        """Return whether a field or fact may be any string, and every test names plain ones."""
        if subject == ROLE or not self._can_be_set(subject):
            return False
        if self.is_listed(subject):
            return False
        tests = self._compared.setdefault(subject, [])
        named = (value for test in tests for value in constants_of(test))
        return all(is_ordinary(value) for value in named if isinstance(value, str))

    def _tested_paths(self, tests: Iterable[checked.Test]) -> Iterator[Subject]:
        """Yield the fields that resources are declared by, where conditions compare their text."""
        if any(isinstance(test, checked.ResourceTest) for test in tests):
            named = {("input", each.steps[0]) for each in self._spec.resources if each.steps}
            for subject, about in self._compared.items():
                if subject in named and about and self._is_any_text(subject):
                    yield subject

    def _values(self, subject: Subject) -> tuple[Any, ...]:
        values = complete_samples(self._compared.get(subject, ()), more=self._named(subject))
        if subject in self._any_texts:
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
