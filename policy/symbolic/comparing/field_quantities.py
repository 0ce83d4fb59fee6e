"""What is known of fields and facts as quantities: from their values, or from the tool's schema."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

from policy.catalog import FieldInfo, SchemaView
from policy.checks import checked
from policy.evaluation import (
    ConditionScope,
    DeclaredResources,
    Evaluation,
    compile_test,
    compile_value,
)
from policy.solving import Clauses, Inequalities, Polynomial
from policy.symbolic.comparing.quantities import Quantities
from policy.symbolic.comparing.quantity import Quantity, is_sized, kind_and_size
from policy.symbolic.reading import Choice
from policy.symbolic.subjects import Subject, plain_subject

_JSON_ALONE = ("moment", "duration")


class FieldChoices(Protocol):
    """The values of fields and facts, as far as a reading has chosen some that stand for all."""

    def choices_of_value(self, subject: Subject) -> Sequence[Choice]:
        """Return the values of which one stands for that of the call, none if there are none."""
        ...

    def constants_with(self, subject: Subject) -> Sequence[Any]:
        """Return the constants by which the values were told apart."""
        ...

    def is_listed(self, subject: Subject) -> bool:
        """Return whether the values are all that there are."""
        ...

    def is_text(self, subject: Subject) -> bool:
        """Return whether strings are not told apart by the choices."""
        ...


class FieldQuantities:
    """The quantities of fields and facts, as literals of a reading. `call` is any call."""

    def __init__(
        self,
        clauses: Clauses,
        numbers: Inequalities,
        *,
        view: SchemaView,
        fields: FieldChoices,
        call: Evaluation,
    ) -> None:
        self._clauses = clauses
        self._numbers = numbers
        self._view = view
        self._fields = fields
        self._call = call
        self._all = Quantities(
            clauses,
            numbers,
            known=self._known,
            evaluated=self._evaluated,
            measured=self._measured,
        )
        # Fields and facts that are quantities, by the paths of their names.
        self.paths: dict[Subject, Quantity] = {}

    def functions(self) -> Iterator[tuple[str, Subject, Quantity]]:
        """Yield the functions of one field or fact each, its path, and what they return."""
        for value, quantity in self._all.functions():
            path = path_of(value.args[0])
            if path is not None:
                yield value.function, path, quantity

    @property
    def all(self) -> Quantities:
        """All quantities of the call."""
        return self._all

    def _known(self, value: checked.Value) -> Quantity | None:
        path = path_of(value)
        if path is None:
            return None
        subject = plain_subject(value)
        among = () if subject is None else self._fields.choices_of_value(subject)
        if subject is not None and among:
            found = self._of_choices(subject, value, among)
        elif path == ("now",):
            found = self._of_kinds(("unclear", "moment"), whole=True)
        elif path == ("agent", "depth"):
            found = self._of_kinds(("number",), whole=True)
            self._clauses.require(*self._all.within(found.value, 0, None))
        elif path[0] == "input":
            found = self._of_schema(path[1:])
        else:
            return None
        self.paths[path] = found
        return found

    def _evaluated(self, value: checked.Value) -> Any:
        return compile_value(value, _ANYWHERE)(self._call)

    def _measured(self, value: checked.Value, measured: Quantity, length: Polynomial) -> None:
        """Require what the schema, and the strings that rules name, say of the length of a field.

        A string that rules name stands for spellings in other normal forms as well, which are as
        long if it is ASCII.
        """
        path, subject = path_of(value), plain_subject(value)
        if path is not None and path[0] == "input":
            for literal in self._declared_lengths(path[1:], length):
                self._require(measured.sized, literal)
        if subject is None or self._fields.is_text(subject):
            return
        named = [each for each in self._fields.constants_with(subject) if isinstance(each, str)]
        is_listed = self._fields.is_listed(subject)
        for choice in self._fields.choices_of_value(subject):
            text = choice.value
            if not isinstance(text, str):
                continue
            if is_listed or (text.isascii() and text in named):
                exact = self._numbers.zero(length - _known(Fraction(len(text))))
                self._require(choice.literal, exact)

    def _declared_lengths(self, steps: tuple[str, ...], length: Polynomial) -> Iterable[int]:
        """Return the literals of what a schema declares of the length of a field."""
        types = [self._view.lookup(steps[: count + 1]).types for count in range(len(steps))]
        words = _LENGTHS.get(types[-1] - {"null"})
        node = self._view.node(steps)
        if words is None or node is None or "$ref" in node:
            return ()
        if not all(each <= {"object", "null"} for each in types[:-1]):
            return ()
        least, most = (_whole(node.get(word)) for word in words)
        return self._all.within(length, least, most)

    def _of_kinds(self, kinds: Iterable[str], *, whole: bool) -> Quantity:
        found = self._all.unknown(whole=whole)
        self._clauses.require(*(getattr(found, kind) for kind in kinds))
        return found

    def _of_choices(
        self, subject: Subject, value: checked.Value, among: Sequence[Choice]
    ) -> Quantity:
        """Return the quantity of a value that is represented by one of a few."""
        read = compile_value(value, _ANYWHERE)
        values = [(choice, read(choice.call)) for choice in among]
        kinds: dict[str, list[int]] = {}
        for choice, shown in values:
            kinds.setdefault(kind_and_size(shown)[0], []).append(choice.literal)
        any_of = self._clauses.any_of
        size = self._numbers.variable(whole=self._is_whole(subject, values))
        found = Quantity(
            absent=any_of(kinds.get("absent", ())),
            unclear=any_of(kinds.get("unclear", ())),
            number=any_of(kinds.get("number", ())),
            moment=any_of(kinds.get("moment", ())),
            duration=any_of(kinds.get("duration", ())),
            other=any_of(kinds.get("other", ())),
            sized=any_of(choice.literal for choice, shown in values if is_sized(shown)),
            value=size,
        )
        self._place(subject, size, values)
        return self._perhaps_a_time(found) if subject[0] == "context" else found

    def _perhaps_a_time(self, found: Quantity) -> Quantity:
        """Return a quantity of which some values that are no numbers may be times or durations."""
        clauses = self._clauses
        moment = clauses.all_of([found.other, clauses.variable()])
        duration = clauses.all_of([found.other, -moment, clauses.variable()])
        rest = [-moment, -duration]
        return replace(
            found,
            moment=moment,
            duration=duration,
            other=clauses.all_of([found.other, *rest]),
            sized=clauses.all_of([found.sized, *rest]),
        )

    def _place(
        self, subject: Subject, size: Polynomial, values: Sequence[tuple[Choice, Any]]
    ) -> None:
        """Require that the size lies between the numbers that a choice stands between."""
        listed = self._fields.is_listed(subject)
        constants = map(kind_and_size, self._fields.constants_with(subject))
        named = sorted({number for kind, number in constants if kind == "number"})
        for choice, shown in values:
            kind, number = kind_and_size(shown)
            if kind != "number":
                continue
            place = bisect_left(named, number)
            if listed or number in named[place : place + 1]:
                self._require(choice.literal, self._numbers.zero(size - _known(number)))
                continue
            if place:
                above = self._numbers.below_zero(_known(named[place - 1]) - size)
                self._require(choice.literal, above)
            if place < len(named):
                below = self._numbers.below_zero(size - _known(named[place]))
                self._require(choice.literal, below)

    def _require(self, if_this: int, then: int) -> None:
        self._clauses.require(-if_this, then)

    def _is_whole(self, subject: Subject, values: Iterable[tuple[Choice, Any]]) -> bool:
        if self._fields.is_listed(subject):
            return all(kind_and_size(shown)[1].denominator == 1 for _, shown in values)
        return subject[0] == "input" and self._has_whole_numbers(subject[1:])

    def _of_schema(self, steps: tuple[str, ...]) -> Quantity:
        """Return the quantity of a field within an object of the input."""
        found = self._all.unknown(whole=self._has_whole_numbers(steps))
        for kind in _JSON_ALONE:
            self._clauses.require(-getattr(found, kind))
        info = self._declared(steps)
        if info is None:
            return found
        # No list and no other value is on the way, so that the schema is that of the value.
        self._clauses.require(-found.unclear)
        if info.known and info.types <= {"integer", "number"} and info.required:
            self._clauses.require(-found.absent)
        if info.known and not info.types & {"integer", "number", "any"}:
            self._clauses.require(-found.number)
        return found

    def _has_whole_numbers(self, steps: tuple[str, ...]) -> bool:
        info = self._declared(steps)
        return info is not None and info.known and not info.types & {"number", "any"}

    def _declared(self, steps: tuple[str, ...]) -> FieldInfo | None:
        """Return what the schema declares of a field; None where it may be in something else."""
        *above, field = (self._view.lookup(steps[: count + 1]) for count in range(len(steps)))
        return field if all(map(_is_object, above)) else None


def path_of(value: checked.Value) -> Subject | None:
    """Return the names that lead to a field or fact, None for any other value."""
    match value:
        case checked.Fact(path=path):
            return path
        case checked.FieldOf(base=base, name=name):
            before = path_of(base)
            return None if before is None else (*before, name)
        case _:
            return None


# The words of a schema that bound the length of a value, by its type.
_LENGTHS = {
    frozenset({"string"}): ("minLength", "maxLength"),
    frozenset({"list"}): ("minItems", "maxItems"),
}


def _whole(number: Any) -> int | None:
    return number if type(number) is int else None


def _is_object(info: FieldInfo) -> bool:
    return info.known and info.types <= {"object", "null"}


def _known(number: Fraction) -> Polynomial:
    return Polynomial.constant(number)


# Fields and facts are the same wherever they are read.
_ANYWHERE = ConditionScope(
    declared=DeclaredResources((), complete=True, unseen=False),
    absent_is_false=False,
    covering=False,
    test=compile_test,
)
