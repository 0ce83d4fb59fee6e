"""`Comparisons`: the truth of comparisons of values that are no constants, by their quantities."""

from __future__ import annotations

from typing import Any

from policy.checks import checked
from policy.solving import Clauses, Inequalities, LeftOpen
from policy.symbolic.comparing.field_quantities import FieldQuantities
from policy.symbolic.comparing.quantity import Quantity
from policy.symbolic.comparing.suggested_values import suggested_values
from policy.symbolic.reading import Scope
from policy.symbolic.situation import Values
from policy.symbolic.subjects import Subject
from policy.symbolic.truths import Truths, unknown


class Comparisons:
    """The comparisons of one call, consistent with each other."""

    def __init__(
        self, clauses: Clauses, numbers: Inequalities, quantities: FieldQuantities
    ) -> None:
        self._clauses = clauses
        self._numbers = numbers
        self._fields = quantities
        self._quantities = quantities.all
        # Whether two values that are no quantities are equal.
        self._equal: dict[frozenset[object], Truths] = {}

    def truth_of(self, test: checked.Comparison, scope: Scope) -> Truths:
        """Return the truth of a comparison."""
        left, right = (self._quantities.of(side, scope) for side in (test.left, test.right))
        both, any_of = self._clauses.all_of, self._clauses.any_of
        comparable = any_of(
            both([getattr(left, kind), getattr(right, kind)])
            for kind in ("number", "moment", "duration")
        )
        holds = self._is_in_order(test.op, left, right)
        true, false = both([comparable, holds]), both([comparable, -holds])
        if test.op == "==":
            equal, others = self._equality(test, scope), both([left.other, right.other])
            true = any_of([true, both([others, equal.holds])])
            false = any_of([false, both([others, equal.fails])])
        if scope.absent_is_false:
            absent = any_of([left.absent, right.absent])
            false = any_of([false, both([-left.unclear, -right.unclear, absent])])
        return Truths(true, false)

    @property
    def left_open(self) -> LeftOpen:
        """Why some assignments were not looked into."""
        return self._numbers.left_open

    def suggested(self, holding: frozenset[int], chosen: Values) -> dict[Subject, Any]:
        """Return values of fields and facts for the numbers of an assignment.

        `chosen` are values that stand for those of the assignment.
        """
        return suggested_values(self._fields, self._numbers.values(holding), holding, chosen)

    def _is_in_order(self, op: str, left: Quantity, right: Quantity) -> int:
        difference = left.value - right.value
        match op:
            case "<":
                return self._numbers.below_zero(difference)
            case "<=":
                return self._numbers.at_most_zero(difference)
            case ">":
                return self._numbers.below_zero(-difference)
            case ">=":
                return self._numbers.at_most_zero(-difference)
            case _:
                return self._numbers.zero(difference)

    def _equality(self, test: checked.Comparison, scope: Scope) -> Truths:
        key = frozenset(self._quantities.key(side, scope) for side in (test.left, test.right))
        found = self._equal.get(key)
        if found is None:
            found = self._equal[key] = unknown(self._clauses)
        return found


def equalities_of(test: checked.Test) -> tuple[checked.Comparison, ...]:
    """Return the comparisons of which a membership in a list is the disjunction; none for others.

    The engine looks up a list that consists of strings as a whole.
    """
    if not isinstance(test, checked.Membership) or not isinstance(test.right, checked.ListOf):
        return ()
    items = test.right.items
    if all(isinstance(one, checked.Constant) and isinstance(one.value, str) for one in items):
        return ()
    return tuple(
        checked.Comparison(op="==", left=test.left, right=item, text=test.text) for item in items
    )
