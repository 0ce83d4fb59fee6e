"""`Search`: finds an assignment that satisfies clauses, or why there is none.

Steps are conflicts of the solver, which every machine counts alike: the same clauses and steps give
the same answer everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from policy.solving.clauses import Clauses, Literal

# A solver with clause learning whose every run is the same, and which can count its conflicts.
_SOLVER = "glucose4"


@dataclass(frozen=True, slots=True)
class Model:
    """The literals that hold in an assignment that satisfies everything."""

    holding: frozenset[Literal]


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """There is no assignment; `core` are assumptions that already exclude all."""

    core: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """The steps were used up before an answer was found."""


class Search:
    """A solver with clauses; more may be added between questions. Close it after use."""

    def __init__(self, clauses: Clauses, *, steps: int) -> None:
        # Imported here, because only those who prove need it.
        from pysat.solvers import Solver  # type: ignore[import-untyped]

        self._solver: Any = Solver(name=_SOLVER, bootstrap_with=clauses.all)
        self._solver.set_phases(clauses.preferred)
        self._theories = clauses.theories
        self.steps = steps

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what the solver holds; nothing may be asked any more."""
        self._solver.delete()

    def require(self, *literals: Literal) -> None:
        """Require that at least one of these holds, too."""
        self._solver.add_clause(list(literals))

    def solve(self, assumptions: Iterable[Literal] = ()) -> Model | Unsatisfiable | Spent:
        """Return an assignment in which the assumptions hold, or why there is none.

        An assignment that a theory refutes is excluded, which takes a step.
        """
        wanted = list(assumptions)
        while True:
            found = self._solve(wanted)
            if not isinstance(found, Model):
                return found
            lemmas = [clause for each in self._theories for clause in each.refute(found.holding)]
            if not lemmas:
                return found
            if self.steps <= len(lemmas):
                return Spent()
            self.steps -= len(lemmas)
            for clause in lemmas:
                self.require(*clause)

    def _solve(self, assumptions: list[Literal]) -> Model | Unsatisfiable | Spent:
        before = self._conflicts()
        self._solver.conf_budget(self.steps)
        found = self._solver.solve_limited(assumptions=assumptions)
        self.steps = max(self.steps - (self._conflicts() - before), 1)
        if found is None:
            return Spent()
        if found:
            return Model(frozenset(self._solver.get_model() or ()))
        return Unsatisfiable(tuple(self._solver.get_core() or ()))

    def smallest_core(self, assumptions: Iterable[Literal]) -> tuple[Literal, ...]:
        """Return assumptions that exclude everything, none of which can be left out.

        The assumptions must exclude everything. Once the steps are used up, more may be left.
        """
        needed = list(assumptions)
        for literal in tuple(needed):
            rest = [other for other in needed if other != literal]
            if isinstance(self.solve(rest), Unsatisfiable):
                needed = rest
        return tuple(needed)

    def _conflicts(self) -> int:
        return int(self._solver.accum_stats()["conflicts"])
