"""`Z3`: whether inequalities of sums and products may hold at once, by the solver z3.

It is the extra `placet[analysis]`, and imported when it is first needed. Its work is counted in
units of its own (`rlimit`), so that one version gives the same answers on every machine. Some of
its work on products it does not count: questions with one end by the clock too, and few may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from policy.solving.arithmetic.bounds import Bound
from policy.solving.arithmetic.polynomials import Polynomial

# Units of work: for one question, to leave out one bound of an answer, and for all of one search.
_MOST_WORK = 300_000
_MOST_WORK_TO_LEAVE_OUT = 30_000
_MOST_WORK_IN_ALL = 6_000_000
# Milliseconds for one question with products, most of which are answered in a hundredth of that.
_LONGEST_OF_PRODUCTS = 500
# For one without, whose work is counted: it is there for what nobody has seen.
_LONGEST = 60_000
# Questions of one search to which there is no answer.
_MOST_UNANSWERED = 10

# Whole numbers up to here are doubles.
_SAFE = 2**53


class Z3:
    """A solver in a context of its own. `whole` are the variables that are whole numbers."""

    def __init__(self, whole: frozenset[int]) -> None:
        """Raise `ImportError` where z3 is not installed, or cannot be loaded."""
        self._z3 = _imported()
        self._whole = whole
        self._context = self._z3.Context()
        self._solver = self._z3.SimpleSolver(ctx=self._context)
        # `core.minimize` would be shorter, but its work has no limit.
        self._variables: dict[int, Any] = {}
        # The assumption of each literal that was asked about, and the other way round.
        self._assumptions: dict[int, Any] = {}
        self._literals: dict[str, int] = {}
        self._work = 0
        self._unanswered = 0
        self._has_products = False
        # Whether a question was left open.
        self.is_unfinished = False

    def contradiction(self, bounds: Sequence[Bound]) -> tuple[int, ...] | None:
        """Return the literals of bounds that exclude each other; None if none are known to."""
        asked = [self._assumed(bound) for bound in bounds]
        if self._asked(asked) != self._z3.unsat:
            return None
        core = self._smaller([str(each) for each in self._solver.unsat_core()])
        return tuple(self._literals[name] for name in core)

    def values(self, bounds: Sequence[Bound]) -> Mapping[int, Fraction] | None:
        """Return values of the variables with which all bounds hold.

        They are whole numbers that doubles can represent, if such values are found.
        """
        asked = [self._assumed(bound) for bound in bounds]
        named = sorted({each for bound in bounds for each in bound.polynomial.variables})
        whole = [self._z3.IsInt(self._variable(each)) for each in named if each not in self._whole]
        small = [clause for each in named for clause in self._is_safe(each)]
        for more in ([*whole, *small], whole, []):
            self._solver.push()
            self._solver.add(*more)
            found = self._asked(asked)
            model = self._solver.model() if found == self._z3.sat else None
            values = None if model is None else self._read(model, named)
            self._solver.pop()
            if values is not None:
                return values
        return None

    def _is_safe(self, variable: int) -> tuple[Any, Any]:
        value = self._variable(variable)
        return value <= _SAFE, value >= -_SAFE

    def _read(self, model: Any, named: Iterable[int]) -> Mapping[int, Fraction] | None:
        found: dict[int, Fraction] = {}
        for each in named:
            value = model.eval(self._variable(each), model_completion=True)
            if self._z3.is_algebraic_value(value):
                value = value.approx(10)
            if not (self._z3.is_rational_value(value) or self._z3.is_int_value(value)):
                return None
            found[each] = Fraction(str(value))
        return found

    def _assumed(self, bound: Bound) -> Any:
        found = self._assumptions.get(bound.literal)
        if found is None:
            found = self._z3.Bool(f"l{bound.literal}", self._context)
            self._assumptions[bound.literal] = found
            self._literals[str(found)] = bound.literal
            self._solver.add(self._z3.Implies(found, self._inequality(bound)))
        return found

    def _inequality(self, bound: Bound) -> Any:
        left = self._sum(bound.polynomial)
        limit = self._z3.RealVal(str(bound.limit), self._context)
        if bound.upper:
            return left < limit if bound.strict else left <= limit
        return left > limit if bound.strict else left >= limit

    def _sum(self, polynomial: Polynomial) -> Any:
        total: Any = self._z3.RealVal("0", self._context)
        for monomial, factor in polynomial.terms:
            self._has_products = self._has_products or len(monomial) > 1
            product: Any = self._z3.RealVal(str(factor), self._context)
            for each in monomial:
                product = product * self._real(each)
            total = total + product
        return total

    def _real(self, variable: int) -> Any:
        found = self._variable(variable)
        return self._z3.ToReal(found) if variable in self._whole else found

    def _variable(self, variable: int) -> Any:
        found = self._variables.get(variable)
        if found is None:
            make = self._z3.Int if variable in self._whole else self._z3.Real
            found = self._variables[variable] = make(f"v{variable}", self._context)
        return found

    def _smaller(self, core: list[str]) -> list[str]:
        """Leave out bounds without which the others exclude each other, as far as is cheap."""
        for name in tuple(core):
            if name not in core:
                continue
            rest = [other for other in core if other != name]
            asked = [self._assumptions[self._literals[other]] for other in rest]
            found = self._check(asked, _MOST_WORK_TO_LEAVE_OUT)
            if found == self._z3.unknown:
                break  # the next ones would take as long
            if found == self._z3.unsat:
                needed = {str(each) for each in self._solver.unsat_core()}
                core = [other for other in rest if other in needed]
        return core

    def _asked(self, asked: Sequence[Any]) -> Any:
        """Return what z3 says of assumptions, and note that it says nothing."""
        found = self._check(asked, _MOST_WORK)
        self.is_unfinished = self.is_unfinished or found == self._z3.unknown
        return found

    def _check(self, asked: Sequence[Any], most_work: int) -> Any:
        """Return what z3 says of assumptions; `unknown` once the work is used up, or it fails."""
        if self._work > _MOST_WORK_IN_ALL or self._unanswered > _MOST_UNANSWERED:
            return self._z3.unknown
        found = self._z3.unknown
        try:
            longest = _LONGEST_OF_PRODUCTS if self._has_products else _LONGEST
            self._solver.set(rlimit=most_work, timeout=longest)
            found = self._solver.check(*asked)
            self._work = int(self._solver.statistics().get_key_value("rlimit count"))
        except self._z3.Z3Exception:
            found = self._z3.unknown
        self._unanswered += found == self._z3.unknown
        return found


def _imported() -> Any:
    try:
        import z3
    except ImportError:
        raise
    except Exception as error:
        raise ImportError(str(error)) from error
    return z3
