"""`Clauses`: a Boolean formula in conjunctive normal form, built gate by gate.

A literal is a variable's number, or the negative number for its negation, as in DIMACS. Gates are
added by Tseitin's transformation: one variable for each, and clauses that make both sides equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

Literal = int


class Theory(Protocol):
    """What literals mean beyond clauses: it refutes assignments that no values have."""

    def refute(self, holding: frozenset[Literal]) -> list[list[Literal]]:
        """Return clauses that hold for all values, and not in an assignment; none if it may hold.

        `holding` are the literals of the assignment that hold.
        """
        ...


class Clauses:
    """The clauses so far. `true` and `false` are the literals of the constants.

    A `Search` asks the `theories` about each assignment that satisfies the clauses.
    """

    def __init__(self) -> None:
        self.all: list[list[Literal]] = []
        self.count = 0
        self.preferred: list[Literal] = []
        self.theories: list[Theory] = []
        self.true: Literal = self.variable()
        self.false: Literal = -self.true
        self.require(self.true)

    def variable(self) -> Literal:
        """Return the literal of a new variable."""
        self.count += 1
        return self.count

    def require(self, *literals: Literal) -> None:
        """Require that at least one of these holds."""
        self.all.append(list(literals))

    def prefer(self, literal: Literal) -> None:
        """Let assignments be tried first in which a literal holds."""
        self.preferred.append(literal)

    def all_of(self, literals: Iterable[Literal]) -> Literal:
        """Return a literal that holds exactly if all of these do."""
        return -self.any_of([-literal for literal in literals])

    def any_of(self, literals: Iterable[Literal]) -> Literal:
        """Return a literal that holds exactly if one of these does."""
        parts: dict[Literal, None] = dict.fromkeys(p for p in literals if p != self.false)
        if self.true in parts or any(-part in parts for part in parts):
            return self.true
        if not parts:
            return self.false
        if len(parts) == 1:
            return next(iter(parts))
        gate = self.variable()
        self.require(-gate, *parts)
        for part in parts:
            self.require(gate, -part)
        return gate

    def exactly_one(self, literals: Sequence[Literal]) -> list[Literal]:
        """Require that exactly one of these holds; return, for each, that it or one before it does.

        A chain of variables, each of which says that one of the literals so far holds, takes three
        clauses for each literal, instead of one for each pair (Sinz, *Towards an Optimal CNF
        Encoding of Boolean Cardinality Constraints*, 2005).
        """
        self.require(*literals)
        chain: list[Literal] = []
        for literal in literals:
            so_far = self.variable()
            self.require(-literal, so_far)
            if chain:
                self.require(-chain[-1], so_far)
                self.require(-literal, -chain[-1])
            chain.append(so_far)
        return chain
