"""Values with less in them than another one, to show what a call that was found is really about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Numbers up to here are left as they are: most are near one that a rule names.
_SMALL = 1_000
# Of larger ones than this, small and round numbers are tried first, of which these are all.
_HUGE = 10**9
_FEW = 20
# The first whole number that no double represents.
_NO_DOUBLE = 2**53 + 1
_MOST_DIGITS = 4  # after the point


def smaller_values(value: Any) -> Iterator[Any]:
    """Yield values that are simpler than this one, the simplest first.

    A list or an object has one part less, or a smaller one; a large number is nearer to zero.
    """
    match value:
        case bool():
            return
        case int():
            yield from _nearer_to_zero(value)
        case float():
            yield from _rounded(value)
        case tuple() | list():
            items = tuple(value)
            for place in range(len(items)):
                yield (*items[:place], *items[place + 1 :])
            for place, item in enumerate(items):
                for less in smaller_values(item):
                    yield (*items[:place], less, *items[place + 1 :])
        case Mapping():
            for name in value:
                yield {other: part for other, part in value.items() if other != name}
            for name, part in value.items():
                for less in smaller_values(part):
                    yield {**value, name: less}
        case _:
            return


def _nearer_to_zero(number: int) -> Iterator[int]:
    """Yield round numbers if this one is huge, and then numbers that are nearer and nearer."""
    size, sign = abs(number), 1 if number > 0 else -1
    if size <= _SMALL:
        return
    if size > _HUGE:
        yield from range(0, sign * (_FEW + 1), sign)
        rounded = (digit * 10**digits for digits in range(1, 16) for digit in (1, 2, 5))
        for less in (*rounded, _NO_DOUBLE):
            if _FEW < less < size:
                yield sign * less
    step = size // 2 if size < _NO_DOUBLE else 0
    while step:
        yield sign * (size - step)
        step //= 2


def _rounded(number: float) -> Iterator[Any]:
    for digits in range(_MOST_DIGITS + 1):
        less = round(number, digits)
        if len(repr(less)) < len(repr(number)):
            yield int(less) if less.is_integer() and abs(less) <= _NO_DOUBLE else less
