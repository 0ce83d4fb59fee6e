"""Values of a field or fact that tell its tests apart.

For tests that compare one value with constants, the values are *complete*: whatever the value of a
call is, one of these has the same result in each such test. For other tests they are guesses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count, islice, pairwise
from math import floor, inf, isfinite, nextafter
from typing import Any

from policy.checks import checked
from policy.evaluation import ABSENT, constant_value
from policy.symbolic.subjects import Subject, plain_subject
from policy.values import compare_numbers, is_number, is_ordinary, parse_time

_INVISIBLE = "\u200b"  # a string with such a character is like no other, and may be like one
_OTHER = "other"  # a string that no test names
_BEYOND_DOUBLES = 10**400
# Numbers of which small multiples, and sums with ordinary numbers, are no doubles.
_AWKWARD = (8.843078075214803e21, -8.843078075214803e21, 1e-17)
# A Monday at noon, at night, and a Saturday.
_TIMES = tuple(datetime(2026, 6, day, hour, tzinfo=UTC) for day, hour in ((1, 12), (1, 3), (6, 12)))


def simple_subject(test: checked.Test) -> Subject | None:
    """Return the field or fact that a test compares with constants alone; None for other tests."""
    value = compared_value(test)
    return None if value is None else plain_subject(value)


def compared_value(test: checked.Test) -> checked.Value | None:
    """Return the value that a test compares with constants alone; None for other tests."""
    match test:
        case checked.Comparison(left=left, right=checked.Constant(value=value)):
            return left if _is_scalar(value) else None
        case checked.Comparison(left=checked.Constant(value=value), right=right):
            return right if _is_scalar(value) else None
        case checked.Membership(left=left, right=checked.ValueSet(kind="strings" | "numbers") as s):
            plain = not s.excluded and all(_is_scalar(item) for item in s.included)
            return left if plain else None
        case checked.Membership(left=left, right=checked.ListOf(items=items)):
            plain = all(isinstance(i, checked.Constant) and _is_scalar(i.value) for i in items)
            return left if plain else None
        case checked.Membership(left=left, right=checked.Constant(value=tuple() as items)):
            return left if all(map(_is_scalar, items)) else None
        case checked.Presence(left=left) | checked.TypeTest(left=left):
            return left
        case checked.ValueTest(value=value):
            return value
        case _:
            return None


def complete_samples(tests: Iterable[checked.Test], *, more: Iterable[Any] = ()) -> tuple[Any, ...]:
    """Return values such that every value has the results of one of these in simple tests.

    `more` are further constants that the value is compared with.
    """
    constants = [*(value for test in tests for value in constants_of(test)), *more]
    numbers = sorted(set(_doubles(*(value for value in constants if is_number(value)))))
    named = {value for value in constants if isinstance(value, str)}
    strings = [*sorted(named), other_than(named)]
    return (
        ABSENT,
        *strings,
        *(text + _INVISIBLE for text in strings),
        *_numbers(numbers),
        True,
        False,
        (),
        ("other",),
        {},
    )


def other_than(named: Collection[str]) -> str:
    """Return a string that is none of these."""
    return next(text for n in count() if (text := f"{_OTHER}{n or ''}") not in named)


def guessed_samples(tests: Iterable[checked.Test]) -> tuple[Any, ...]:
    """Return values that may pass tests of texts and lists, or make sums indeterminate."""
    found: dict[Any, None] = {}
    for test in tests:
        if _has_arithmetic(test):
            found.update(dict.fromkeys(_AWKWARD))
        for text in _texts(test):
            for guess in (text, f"{text}x", f"x{text}", f"x{text}x", (text,), (text, _OTHER)):
                found[guess] = None
    return tuple(found)


def disguised(text: str) -> Iterator[str]:
    """Yield spellings of a string with an invisible character at one place, or at all of them."""
    for place in range(len(text) + 1):
        yield f"{text[:place]}{_INVISIBLE}{text[place:]}"
    yield _INVISIBLE + "".join(f"{char}{_INVISIBLE}" for char in text)


def is_strange(value: Any) -> bool:
    """Return whether people would not write such a value: it is huge, or hides characters."""
    if isinstance(value, str):
        return not is_ordinary(value)
    if isinstance(value, Mapping):
        return any(map(is_strange, value.values()))
    if not is_number(value):
        return False
    return compare_numbers("==", value, 0) is None or value in _AWKWARD


def times(tests: Iterable[checked.Test]) -> tuple[datetime | None, ...]:
    """Return moments around those that tests name; None is a time that is not known."""
    constants = (_moment(value) for test in tests for value in constants_of(test))
    named = {value for value in constants if value is not None}
    second = timedelta(seconds=1)
    around = (each + step for each in sorted(named) for step in (-second, 0 * second, second))
    return (*_TIMES, *around, None)


def _moment(value: Any) -> datetime | None:
    """Return the time that a constant is, or that it is when it is read as one."""
    found = parse_time(value) if isinstance(value, str) else value
    return found if isinstance(found, datetime) and found.tzinfo is not None else None


def _numbers(numbers: list[Any]) -> Iterator[Any]:
    if not numbers:
        yield from (0, _BEYOND_DOUBLES)
        return
    yield from numbers
    for low, high in pairwise(numbers):
        # Between the two, or else no double is: first a whole number, if there is one.
        yield from _doubles(floor(low) + 1)
        middle = (low + high) / 2
        yield middle if isfinite(middle) else low / 2 + high / 2
    for number, step in ((numbers[0], -1), (numbers[-1], 1)):
        yield from islice(_doubles(floor(number) + step, nextafter(number, step * inf)), 1)
    yield _BEYOND_DOUBLES


def _doubles(*numbers: Any) -> Iterator[Any]:
    """Yield those of these that a double can represent."""
    return (number for number in numbers if compare_numbers("==", number, 0) is not None)


def _has_arithmetic(node: Any) -> bool:
    if isinstance(node, checked.Arithmetic):
        return True
    if isinstance(node, tuple):
        return any(_has_arithmetic(part) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return False
    return any(_has_arithmetic(getattr(node, part.name)) for part in fields(node))


def _is_scalar(value: Any) -> bool:
    if isinstance(value, Decimal):
        return is_number(constant_value(value))
    return isinstance(value, (str, bool)) or is_number(value)


def constants_of(node: Any) -> Iterator[Any]:
    """Yield every constant in a test, as conditions compare it."""
    match node:
        case checked.Constant(value=tuple() as items):
            yield from map(constant_value, items)
        case checked.Constant(value=value):
            yield constant_value(value)
        case checked.ValueSet(included=included, excluded=excluded):
            for item in (*included, *excluded):
                yield from constants_of(item) if is_dataclass(item) else (constant_value(item),)
        case tuple():
            for item in node:
                yield from constants_of(item)
        case _ if is_dataclass(node) and not isinstance(node, type):
            for part in fields(node):
                yield from constants_of(getattr(node, part.name))
        case _:
            return


def _texts(node: Any) -> Iterator[str]:
    """Yield every string in a test, of patterns one that they match."""
    yield from (value for value in constants_of(node) if isinstance(value, str))
    match node:
        case checked.LikeTest(pattern=pattern):
            yield pattern.replace("*", "").replace("?", "x")
        case _ if is_dataclass(node) and not isinstance(node, type):
            for part in fields(node):
                value = getattr(node, part.name)
                for each in value if isinstance(value, tuple) else (value,):
                    if is_dataclass(each):
                        yield from _texts(each)
        case _:
            return
