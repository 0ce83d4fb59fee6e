"""`Truths`: the truth of a condition as two literals, one that it is true and one that it is false.

Where neither holds, the condition is indeterminate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from policy.solving import Clauses


@dataclass(frozen=True, slots=True)
class Truths:
    """The literals that a condition is true, and that it is false; never both."""

    holds: int
    fails: int

    def negated(self) -> Truths:
        """Return the truth of the negation."""
        return Truths(self.fails, self.holds)


def constant(clauses: Clauses, truth: Literal[True, False] | None) -> Truths:
    """Return a truth that is the same for every call; None is indeterminate."""
    holds = clauses.true if truth is True else clauses.false
    return Truths(holds, clauses.true if truth is False else clauses.false)


def unknown(clauses: Clauses) -> Truths:
    """Return a truth of which nothing is known."""
    found = Truths(clauses.variable(), clauses.variable())
    clauses.require(-found.holds, -found.fails)
    return found


def all_of(clauses: Clauses, parts: Iterable[Truths]) -> Truths:
    """Return the truth of a conjunction: the weakest of its parts."""
    each = list(parts)
    return Truths(
        clauses.all_of(part.holds for part in each), clauses.any_of(part.fails for part in each)
    )


def any_of(clauses: Clauses, parts: Iterable[Truths]) -> Truths:
    """Return the truth of a disjunction."""
    return all_of(clauses, (part.negated() for part in parts)).negated()
