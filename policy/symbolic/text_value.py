"""`TextValue`: the tests of one field or fact that may be a string, by languages.

A string with invisible characters is compared as it is and without them; where the two differ, a
test is indeterminate. So such a value is two strings here, and an ordinary one is twice the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from policy.checks import checked
from policy.evaluation import Indeterminate, TestOf
from policy.solving import Clauses, Language
from policy.symbolic.known_truths import Row
from policy.symbolic.patterns.texts import any_of_these, is_about_the_end, language_of
from policy.symbolic.reading import Choice, table
from policy.symbolic.samples import disguised
from policy.symbolic.strings import Strings
from policy.symbolic.truths import Truths, unknown


class TextValue:
    """A value that is one of a few, or any string.

    `choices` are all values that it may have; those that are strings, the last of which no test
    names, stand for any string. `ordinary` is the literal that no string has invisible characters.
    """

    def __init__(
        self, clauses: Clauses, strings: Strings, choices: Sequence[Choice], *, ordinary: int
    ) -> None:
        self._clauses = clauses
        # Runs of choices that follow each other.
        self._others = [
            tuple(run)
            for is_text, run in groupby(choices, key=lambda each: isinstance(each.value, str))
            if not is_text
        ]
        self._texts = [each for each in choices if isinstance(each.value, str)]
        self.is_text = clauses.any_of(each.literal for each in self._texts)
        self._strings = strings
        self._shown = strings.word(self.is_text)
        self._bare = strings.word(self.is_text)
        # That the string has no invisible characters: then both are the same.
        self.is_plain = clauses.variable()
        clauses.require(-ordinary, self.is_plain)

    def truth_of(self, test: checked.Test, compiled: TestOf, row: Row) -> Truths:
        """Return the truth of a test of this value alone, which the engine computes as compiled.

        `row` has the results that are known.
        """
        others = [table(self._clauses, lambda: compiled, run, row) for run in self._others]
        of_texts = self._of_texts(test, compiled)
        both, any_of = self._clauses.all_of, self._clauses.any_of
        return Truths(
            any_of([both([self.is_text, of_texts.holds]), *(each.holds for each in others)]),
            any_of([both([self.is_text, of_texts.fails]), *(each.fails for each in others)]),
        )

    @property
    def languages(self) -> Iterable[Language]:
        """The languages of which it is known whether the string is in them."""
        return tuple(self._shown.literals)

    def is_in(self, language: Language) -> int:
        """Return the literal that the string without invisible characters is in a language."""
        self._in_language(language)
        return self._bare.is_in(language)

    def is_spelled_in(self, language: Language) -> int:
        """Return the literal that the string, if it is one, is in a language as it is spelled."""
        return self.spellings_in(language)[0]

    def spellings_in(self, language: Language) -> tuple[int, int]:
        """Return the literals that the string is in a language as it is spelled, and as seen."""
        self._in_language(language)
        return self._shown.is_in(language), self._bare.is_in(language)

    def example(self, holding: frozenset[int]) -> Any:
        """Return the value of an assignment; None if no such string was found."""
        if self.is_text not in holding:
            others = (each for run in self._others for each in run)
            return next((each.value for each in others if each.literal in holding), None)
        if all(
            (literal in holding) == (self._bare.literals[language] in holding)
            for language, literal in self._shown.literals.items()
        ):
            return self._strings.example(self._shown, holding)
        bare = self._strings.example(self._bare, holding)
        spellings = () if bare is None else disguised(bare)
        return next((text for text in spellings if self._shown.allows(text, holding)), None)

    def _of_texts(self, test: checked.Test, compiled: TestOf) -> Truths:
        language = language_of(test)
        if language is not None:
            if is_about_the_end(test):
                # Characters that are hidden elsewhere do not change how a string ends.
                self._clauses.require(-self._shown.is_in(language), self._bare.is_in(language))
            return self._in_language(language)
        results = [compiled(each.call) for each in self._texts]
        if not results or any(isinstance(truth, Indeterminate) for truth in results):
            same = len(set(map(type, results))) == 1
            nothing = Truths(self._clauses.false, self._clauses.false)
            return nothing if same else unknown(self._clauses)
        # The last string stands for all that are not named.
        most = results[-1]
        named = tuple(
            each.value for each, truth in zip(self._texts, results, strict=True) if truth != most
        )
        if not named:
            constant = Truths(self._clauses.true, self._clauses.false)
            return constant if most is True else constant.negated()
        language = any_of_these(named)
        if language is None:
            return unknown(self._clauses)
        truth = self._in_language(language)
        # What is spelled like a string without such characters has none.
        self._clauses.require(-self._shown.is_in(language), self.is_plain)
        return truth.negated() if most is True else truth

    def _in_language(self, language: Language) -> Truths:
        shown, bare = self._shown.is_in(language), self._bare.is_in(language)
        for one, other in ((shown, bare), (bare, shown)):
            self._clauses.require(-self.is_plain, -one, other)
        return Truths(self._clauses.all_of([shown, bare]), self._clauses.all_of([-shown, -bare]))
