"""`EqualTexts`: what is true of two strings if one equals the other, or does not.

Strings that are not certainly different are the same without invisible characters, and so are in
the same languages. Which languages rules ask about is known when all of them are read, so this is
required as a theory of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from policy.solving import Clauses, Language, contains
from policy.symbolic.patterns.texts import any_of_these
from policy.symbolic.reading import Choice
from policy.symbolic.subjects import Subject
from policy.symbolic.truths import Truths
from policy.values import is_ordinary, without_invisible


class Text(Protocol):
    """A value that may be a string. Without invisible characters, it is plain."""

    @property
    def is_text(self) -> int:
        """The literal that it is a string."""
        ...

    @property
    def is_plain(self) -> int:
        """The literal that the string has no invisible characters."""
        ...

    @property
    def languages(self) -> Iterable[Language]:
        """The languages of which it is known whether the string is in them."""
        ...

    def is_in(self, language: Language) -> int:
        """Return the literal that the string without invisible characters is in a language."""
        ...


class ListedText:
    """A string that is one of a few."""

    def __init__(self, clauses: Clauses, choices: Iterable[Choice]) -> None:
        self._clauses = clauses
        self._choices = [choice for choice in choices if isinstance(choice.value, str)]
        self._known: dict[Language, int] = {}
        self.is_text = clauses.any_of(choice.literal for choice in self._choices)
        plain = (choice.literal for choice in self._choices if is_ordinary(choice.value))
        self.is_plain = clauses.any_of(plain)
        self.languages = tuple(
            language
            for choice in self._choices
            if (language := any_of_these((choice.value,))) is not None
        )

    def is_in(self, language: Language) -> int:
        """Return the literal that the string without invisible characters is in a language."""
        found = self._known.get(language)
        if found is None:
            texts = (c for c in self._choices if contains(language, without_invisible(c.value)))
            found = self._known[language] = self._clauses.any_of(each.literal for each in texts)
        return found


class TextFields(Protocol):
    """What is known of fields and facts."""

    def choices_of_value(self, subject: Subject) -> Iterable[Choice]:
        """Return the values of which one stands for that of the call, none if there are none."""
        ...

    def constants_with(self, subject: Subject) -> Iterable[Any]:
        """Return the constants by which the values were told apart."""
        ...

    def text_of(self, subject: Subject) -> Text | None:
        """Return the string that a field or fact may be; None if it is not modelled as one."""
        ...


@dataclass(frozen=True, slots=True)
class _Pair:
    subjects: tuple[Subject, Subject]
    texts: tuple[Text, Text]
    equality: Truths
    required: set[Language] = field(default_factory=set)


class EqualTexts:
    """The strings of a call that are compared with each other."""

    def __init__(self, clauses: Clauses, fields: TextFields) -> None:
        self._clauses = clauses
        self._fields = fields
        self._pairs: list[_Pair] = []
        clauses.theories.append(self)

    def note(self, subjects: tuple[Subject, Subject], equality: Truths) -> None:
        """Note the truth of an equality of two fields or facts that are no numbers and no times.

        Nothing is known of it where one of them is not modelled as a string.
        """
        one, other = (self._fields.text_of(subject) for subject in subjects)
        if one is None or other is None:
            return
        self._require_kinds(subjects, (one, other), equality)
        require = self._clauses.require
        plain = [-literal for text in (one, other) for literal in (text.is_text, text.is_plain)]
        require(*plain, equality.holds, equality.fails)
        constants = (value for each in subjects for value in self._fields.constants_with(each))
        for value in dict.fromkeys(value for value in constants if isinstance(value, str)):
            language = any_of_these((value,))
            if language is not None:
                require(*plain, -one.is_in(language), -other.is_in(language), equality.holds)
        self._pairs.append(_Pair(subjects, (one, other), equality))

    def _require_kinds(
        self, subjects: tuple[Subject, Subject], texts: tuple[Text, Text], equality: Truths
    ) -> None:
        """Require that only values of the same type are equal or not, and strings if plain."""
        (one, other), require = texts, self._clauses.require
        for truth in (equality.holds, equality.fails):
            require(-truth, -one.is_text, other.is_text)
            require(-truth, one.is_text, -other.is_text)
        for text in texts:
            require(-equality.holds, -text.is_text, text.is_plain)
        for value in (True, False):
            first, second = (self._is(subject, value=value) for subject in subjects)
            require(-equality.holds, -first, second)
            require(-equality.holds, first, -second)
            require(-equality.fails, -first, -second)

    def _is(self, subject: Subject, *, value: bool) -> int:
        return self._clauses.any_of(
            choice.literal
            for choice in self._fields.choices_of_value(subject)
            if choice.value is value
        )

    def equal(self, holding: frozenset[int]) -> Iterator[tuple[Subject, Subject]]:
        """Yield fields and facts that are equal strings in an assignment."""
        for pair in self._pairs:
            if pair.equality.holds in holding and pair.texts[0].is_text in holding:
                yield pair.subjects

    def refute(self, holding: frozenset[int]) -> list[list[int]]:
        """Return clauses, if new, by which strings that may be equal are in the same languages."""
        before = len(self._clauses.all)
        for pair in self._pairs:
            if pair.equality.fails in holding or any(t.is_text not in holding for t in pair.texts):
                continue
            for text in pair.texts:
                for language in text.languages:
                    if language not in pair.required:
                        pair.required.add(language)
                        self._require_same(pair, language)
        return self._clauses.all[before:]

    def _require_same(self, pair: _Pair, language: Language) -> None:
        one, other = pair.texts
        unless = (pair.equality.fails, -one.is_text, -other.is_text)
        first, second = one.is_in(language), other.is_in(language)
        self._clauses.require(*unless, -first, second)
        self._clauses.require(*unless, first, -second)
