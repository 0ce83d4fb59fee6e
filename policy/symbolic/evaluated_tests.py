"""`EvaluatedTests`: tests of several fields and facts, which the engine evaluates when it matters.

For one field, a table says what a test gives for each value; for several, it would need a row for
each combination. So a combination is evaluated once an assignment has it: a theory of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from policy.evaluation import TestOf
from policy.solving import Clauses
from policy.symbolic.known_truths import result
from policy.symbolic.reading import Choice
from policy.symbolic.situation import Situation
from policy.symbolic.subjects import Subject
from policy.symbolic.truths import Truths, unknown

_MOST_EVALUATED = 3_000  # combinations, for one search


@dataclass(slots=True)
class _Test:
    """A test, the values of what it depends on, and the combinations that were evaluated."""

    compile: Callable[[], TestOf]
    choices: Mapping[Subject, Sequence[Choice]]
    truth: Truths
    compiled: TestOf | None = None
    seen: set[tuple[int, ...]] = field(default_factory=set)


class EvaluatedTests:
    """The tests of a reading that depend on several values; calls differ from `base` in these."""

    def __init__(self, clauses: Clauses, base: Situation, *, slots: int) -> None:
        self._clauses = clauses
        self._base = base
        self._slots = slots
        self._tests: list[_Test] = []
        self._left = _MOST_EVALUATED
        clauses.theories.append(self)

    def truth_of(
        self, test: Callable[[], TestOf], choices: Mapping[Subject, Sequence[Choice]]
    ) -> Truths:
        """Return the truth of a test; `test` returns the engine's."""
        found = unknown(self._clauses)
        self._tests.append(_Test(test, choices, found))
        return found

    def refute(self, holding: frozenset[int]) -> list[list[int]]:
        """Return what the engine says of tests for the values of an assignment, if that is new."""
        found: list[list[int]] = []
        for test in self._tests:
            chosen = {
                subject: choice
                for subject, among in test.choices.items()
                for choice in among
                if choice.literal in holding
            }
            literals = tuple(choice.literal for choice in chosen.values())
            if self._left <= 0 or literals in test.seen:
                continue
            self._left -= 1
            test.seen.add(literals)
            found += self._said(test, chosen, [-literal for literal in literals])
        return found

    def _said(
        self, test: _Test, chosen: Mapping[Subject, Choice], unless: list[int]
    ) -> list[list[int]]:
        """Return clauses that say what a test gives for the chosen values."""
        if test.compiled is None:
            test.compiled = test.compile()
        values = {subject: choice.value for subject, choice in chosen.items()}
        call = self._base.having(values).evaluation(slots=self._slots)
        truth = result(test.compiled, call)
        holds, fails = test.truth.holds, test.truth.fails
        return [
            [*unless, holds if truth is True else -holds],
            [*unless, fails if truth is False else -fails],
        ]
