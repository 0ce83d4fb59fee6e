"""`Quantities`: numbers, times and durations in conditions, as sums and products of what is known.

Whatever is no sum, product, length, minimum or maximum is a value of its own, which is the same
wherever it is written. Its kind is among literals, its size among the inequalities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, TypeAlias

from policy.checks import checked
from policy.solving import Clauses, Inequalities, Polynomial
from policy.symbolic.comparing.quantity import (
    EPOCH,
    KINDS,
    MICROSECOND,
    Quantity,
    is_sized,
    kind_and_size,
)
from policy.symbolic.reading import Scope
from policy.symbolic.subjects import meaning_of, subjects_of

# Whole numbers up to here are doubles.
_SAFE = 2**53
# A day less than the calendar at both ends, whatever the offset of a time.
_CALENDAR = (
    (datetime(1, 1, 2, tzinfo=UTC) - EPOCH) // MICROSECOND,
    (datetime(9999, 12, 30, tzinfo=UTC) - EPOCH) // MICROSECOND,
)
_LONGEST = (timedelta.max - timedelta(days=1)) // MICROSECOND
# Longer sums and products are values of their own.
_MOST_TERMS = 30
_MOST_FACTORS = 4


# What is known of fields and facts by themselves, None if nothing is.
KnownQuantity: TypeAlias = Callable[[checked.Value], Quantity | None]


class Quantities:
    """The quantities of one call.

    `known` returns those of fields and facts, `evaluated` what a value is that is the same for
    every call, and `measured` requires what is known of the length of a value. No value may depend
    on earlier calls, or on what the call accesses.
    """

    def __init__(
        self,
        clauses: Clauses,
        numbers: Inequalities,
        *,
        known: KnownQuantity,
        evaluated: Callable[[checked.Value], Any],
        measured: Callable[[checked.Value, Quantity, Polynomial], None],
    ) -> None:
        self._clauses = clauses
        self._numbers = numbers
        self._known = known
        self._evaluated = evaluated
        self._measured = measured
        self._found: dict[object, Quantity] = {}
        self._functions: list[tuple[checked.FunctionCall, Quantity]] = []

    def of(self, value: checked.Value, scope: Scope) -> Quantity:
        """Return the quantity of a value that depends on no variable of a quantifier."""
        key = self.key(value, scope)
        found = self._found.get(key)
        if found is None and isinstance(value, checked.Selected) and not scope.absent_is_false:
            found = self._found[key] = self._selected(value, scope)
        if found is None:
            found = self._found[key] = self._made(value, scope)
            if isinstance(value, checked.FunctionCall):
                self._functions.append((value, found))
        return found

    def functions(self) -> Iterable[tuple[checked.FunctionCall, Quantity]]:
        """Return the functions that were asked about, and what they return."""
        return tuple(self._functions)

    def key(self, value: checked.Value, scope: Scope) -> object:
        """Return the same key for values that are the same for every call."""
        return meaning_of(value), scope.absent_is_false if has_tests(value) else None

    def unknown(self, *, whole: bool = False) -> Quantity:
        """Return a value of which nothing is known."""
        literals = [self._clauses.variable() for _ in range(6)]
        self._clauses.exactly_one(literals)
        absent, unclear, number, moment, duration, other = literals
        sized = self._clauses.all_of([other, self._clauses.variable()])
        return Quantity(
            absent=absent,
            unclear=unclear,
            number=number,
            moment=moment,
            duration=duration,
            other=other,
            sized=sized,
            value=self._numbers.variable(whole=whole),
        )

    def within(self, value: Polynomial, least: int | None, most: int | None) -> list[int]:
        """Return literals that together say that a value is between two numbers."""
        constant, numbers = Polynomial.constant, self._numbers
        found = [] if least is None else [numbers.at_most_zero(constant(least) - value)]
        return found if most is None else [*found, numbers.at_most_zero(value - constant(most))]

    def _selected(self, value: checked.Selected, scope: Scope) -> Quantity:
        """Return a selection where a test of something absent is indeterminate.

        If none is, it is the same as where such a test is false.
        """
        same, clear = self.of(value, replace(scope, absent_is_false=True)), self._clauses.variable()
        kinds = {
            kind: self._clauses.all_of([getattr(same, kind), clear])
            for kind in ("absent", "number", "moment", "duration", "other", "sized")
        }
        unclear = self._clauses.any_of([same.unclear, -clear])
        return Quantity(**kinds, unclear=unclear, value=same.value)

    def _made(self, value: checked.Value, scope: Scope) -> Quantity:
        if not subjects_of(value):
            return self.constant(self._evaluated(value))
        match value:
            case checked.Arithmetic(op=op, left=left, right=right):
                return self._arithmetic(op, self.of(left, scope), self.of(right, scope))
            case checked.Negative(operand=operand):
                return self._arithmetic("-", self.constant(0), self.of(operand, scope))
            case checked.FunctionCall(function="length", args=(arg,)):
                return self._length(arg, self.of(arg, scope))
            case checked.FunctionCall(function="min" | "max" as function, args=args) if args[1:]:
                return self._extreme(function, [self.of(arg, scope) for arg in args])
            case checked.FunctionCall(function="time" | "date", args=(arg,)):
                return self._time(self.of(arg, scope))
            case checked.Selected(function="count"):
                return self._count()
            case _:
                return self._known(value) or self.unknown()

    def constant(self, value: Any) -> Quantity:
        """Return the quantity of a value of a condition."""
        kind, size = kind_and_size(value)
        literals = dict.fromkeys(KINDS, self._clauses.false)
        literals[kind] = self._clauses.true
        sized = self._clauses.true if is_sized(value) else self._clauses.false
        return Quantity(**literals, sized=sized, value=Polynomial.constant(size))

    def _arithmetic(self, op: str, left: Quantity, right: Quantity) -> Quantity:
        both, any_of = self._clauses.all_of, self._clauses.any_of
        value = _reckoned(op, left.value, right.value)
        represented = self._represented(value)
        if len(value.terms) > _MOST_TERMS or value.degree > _MOST_FACTORS:
            value, represented = self._numbers.variable(whole=False), self._clauses.variable()
        numbers = both([left.number, right.number])
        if op == "*":
            moments = self._clauses.false
            durations = any_of(
                both([one.duration, other.number, self._may_multiply(other)])
                for one, other in ((left, right), (right, left))
            )
        else:
            moments = both([left.moment, right.duration])
            durations = both([left.duration, right.duration])
            if op == "+":
                moments = any_of([moments, both([left.duration, right.moment])])
            else:
                durations = any_of([durations, both([left.moment, right.moment])])
        number = both([numbers, represented])
        moment = both([moments, self._fits(value, *_CALENDAR)])
        duration = both([durations, self._fits(value, -_LONGEST, _LONGEST)])
        # The left side decides before the right one.
        absent = any_of([left.absent, both([-left.unclear, right.absent])])
        return self._strict(absent, value, number=number, moment=moment, duration=duration)

    def _may_multiply(self, number: Quantity) -> int:
        """Return the literal that a duration may be multiplied by a number: it is an `int`."""
        known = number.value.known
        if not number.value.unknown.terms:
            return self._clauses.true if known.denominator == 1 else self._clauses.false
        return self._clauses.variable()

    def _represented(self, value: Polynomial) -> int:
        """Return the literal that a double can represent a result; others are indeterminate."""
        if value.degree == 1 and len(value.terms) == 1 and abs(value.terms[0][1]) == 1:
            return self._clauses.true  # the same number as before, or its negative
        if not self._numbers.is_whole(value):
            return self._clauses.variable()
        return self._fits(value, -_SAFE, _SAFE)

    def _fits(self, value: Polynomial, least: int, most: int) -> int:
        """Return a literal that holds if a value is between two numbers, and may hold otherwise."""
        if not value.unknown.terms:
            return self._clauses.true if least <= value.known <= most else self._clauses.variable()
        found, within = self._clauses.variable(), self.within(value, least, most)
        self._clauses.require(found, *(-one for one in within))
        for one in (found, *within):
            self._clauses.prefer(one)  # values that are written down had better be small
        return found

    def _strict(
        self,
        absent: int,
        value: Polynomial,
        *,
        number: int | None = None,
        moment: int | None = None,
        duration: int | None = None,
        other: int | None = None,
    ) -> Quantity:
        """Return a quantity that is indeterminate if it is of none of these kinds."""
        no = self._clauses.false
        kinds = [no if kind is None else kind for kind in (number, moment, duration, other)]
        return Quantity(
            absent=absent,
            unclear=-self._clauses.any_of([absent, *kinds]),
            number=kinds[0],
            moment=kinds[1],
            duration=kinds[2],
            other=kinds[3],
            sized=kinds[3],
            value=value,
        )

    def _length(self, measured: checked.Value, arg: Quantity) -> Quantity:
        value = self._numbers.variable(whole=True)
        self._clauses.require(*self.within(value, 0, None))
        self._measured(measured, arg, value)
        return self._strict(arg.absent, value, number=arg.sized)

    def _count(self) -> Quantity:
        found = self.unknown(whole=True)
        self._clauses.require(*self.within(found.value, 0, None))
        for kind in (found.moment, found.duration, found.other):
            self._clauses.require(-kind)
        return found

    def _time(self, arg: Quantity) -> Quantity:
        value = self._numbers.variable(whole=True)
        both, read = self._clauses.all_of, self._clauses.variable()
        may_be = self._clauses.any_of([arg.sized, arg.moment])
        moment = both([may_be, read, self._clauses.variable()])
        # `date` of a time is a string.
        other = both([may_be, read, -moment])
        return self._strict(arg.absent, value, moment=moment, other=other)

    def _extreme(self, function: str, args: Sequence[Quantity]) -> Quantity:
        clauses, numbers = self._clauses, self._numbers
        value = numbers.variable(whole=all(numbers.is_whole(arg.value) for arg in args))
        number = clauses.all_of(arg.number for arg in args)
        sign = 1 if function == "min" else -1
        below = [(arg.value - value).times(Fraction(-sign)) for arg in args]
        for each in below:
            clauses.require(-number, numbers.at_most_zero(each))
        clauses.require(-number, *(numbers.at_most_zero(-each) for each in below))
        clear = clauses.all_of(-arg.unclear for arg in args)
        absent = clauses.all_of([clear, clauses.any_of(arg.absent for arg in args)])
        return self._strict(absent, value, number=number)


def is_closed(node: Any, bound: frozenset[int] = frozenset()) -> bool:
    """Return whether a part of a condition depends on no variable of a quantifier around it."""
    if isinstance(node, tuple):
        return all(is_closed(part, bound) for part in node)
    if isinstance(node, checked.Variable):
        return node.slot in bound
    if not is_dataclass(node) or isinstance(node, (type, checked.ValueSet)):
        return True
    if isinstance(node, (checked.Selected, checked.Quantified)):
        bound |= {slot for slot in (node.slot, node.index_slot) if slot is not None}
    return all(is_closed(getattr(node, part.name), bound) for part in fields(node))


def _reckoned(op: str, left: Polynomial, right: Polynomial) -> Polynomial:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case _:
            return left * right


def has_tests(node: Any) -> bool:
    """Return whether a value contains tests, so that it depends on where it stands."""
    if isinstance(node, checked.Selected):
        return True
    parts: Iterable[Any] = ()
    if isinstance(node, tuple):
        parts = node
    elif is_dataclass(node) and not isinstance(node, (type, checked.ValueSet)):
        parts = (getattr(node, part.name) for part in fields(node))
    return any(has_tests(part) for part in parts)
