"""`Comparisons`: the truth of comparisons of values that are no constants, by their quantities."""

from __future__ import annotations

from policy.checks import checked
from policy.solving import Clauses, Inequalities
from policy.symbolic.comparing.equal_texts import EqualTexts
from policy.symbolic.comparing.quantities import Quantities
from policy.symbolic.comparing.quantity import Quantity
from policy.symbolic.reading import Scope
from policy.symbolic.subjects import Subject, plain_subject
from policy.symbolic.truths import Truths, unknown


class Comparisons:
    """The comparisons of one call, consistent with each other."""

    def __init__(
        self,
        clauses: Clauses,
        numbers: Inequalities,
        quantities: Quantities,
        equal_texts: EqualTexts,
    ) -> None:
        self._clauses = clauses
        self._numbers = numbers
        self._quantities = quantities
        self._equal_texts = equal_texts
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
            subjects = compared_subjects(test)
            if subjects is not None:
                self._equal_texts.note(subjects, found)
        return found


def compared_subjects(test: checked.Test) -> tuple[Subject, Subject] | None:
    """Return the two fields or facts of which a test says that they are equal, if it does."""
    if not isinstance(test, checked.Comparison) or test.op != "==":
        return None
    left, right = plain_subject(test.left), plain_subject(test.right)
    return None if left is None or right is None or left == right else (left, right)


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
