"""`KnownTruths`: what tests give for values of fields and facts, kept from one claim to the next.

Claims about a tool ask for the same conditions of the same rules, with nearly the same values. What
the engine gives for a value depends on nothing else, so that it is evaluated once.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeAlias

from policy.checks import checked
from policy.evaluation import Evaluation, Indeterminate, TestOf, Truth
from policy.symbolic.related_tests import RelatedTests
from policy.symbolic.situation import Situation
from policy.symbolic.subjects import Subject, meaning_of

# The result for each numbered call; None is indeterminate.
Row: TypeAlias = dict[int, bool | None]


class KnownTruths:
    """Calls that differ from the same `Situation` in one value each, and what tests give for them.

    One object serves readings of one tool by one class alone.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[Subject, str, int], tuple[int, Evaluation]] = {}
        self._rows: dict[Hashable, Row] = {}
        self._meanings: dict[int, tuple[checked.Test, checked.Test]] = {}
        self.related = RelatedTests()

    def call(
        self, base: Situation, subject: Subject, value: Any, *, slots: int
    ) -> tuple[int, Evaluation]:
        """Return the call with this value, and its number."""
        key = (subject, repr(value), slots)
        found = self._calls.get(key)
        if found is None:
            made = base.having({subject: value}).evaluation(slots=slots)
            found = self._calls[key] = (len(self._calls), made)
        return found

    def row(self, key: Hashable) -> Row:
        """Return what is known of a test."""
        return self._rows.setdefault(key, {})

    def meaning_of(self, test: checked.Test) -> checked.Test:
        """Return a test without its texts; those of rules are asked for again and again."""
        found = self._meanings.get(id(test))
        if found is None:
            found = self._meanings[id(test)] = (test, meaning_of(test))
        return found[1]


def result(test: TestOf, call: Evaluation) -> bool | None:
    """Return what a test gives for a call; None is indeterminate."""
    truth: Truth = test(call)
    return None if isinstance(truth, Indeterminate) else truth
