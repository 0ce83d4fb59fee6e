"""Small numbers and strings that a schema accepts, as far as they are found quickly."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

from policy.solving import PRINTABLE, OutOfSteps, Steps, TooLarge, language, meeting
from policy.symbolic.patterns.regexes import Unread, found_in_text
from policy.values import Unreadable, compile_regex, is_number

_OF_NUMBERS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
# Up to here, whole numbers are doubles.
_SAFE = 2**53
# The states that are followed for a string, and the most characters that are demanded of it.
_MOST_STATES = 2_000
_LONGEST = 200


def least_number(schema: Mapping[str, Any]) -> int | float:
    """Return a number within the bounds of a schema, a multiple as it demands."""
    known = {word: _exact(schema[word]) for word in _OF_NUMBERS if is_number(schema.get(word))}
    found = known.get("minimum", Fraction(1))
    above, below = known.get("exclusiveMinimum"), known.get("exclusiveMaximum")
    if above is not None and ("minimum" not in known or above >= found):
        found = above + 1
    if "maximum" in known and found > known["maximum"]:
        found = known["maximum"]
    if below is not None and found >= below:
        found = below - 1
    if above is not None and below is not None and not above < found < below:
        found = (above + below) / 2
    step = known.get("multipleOf", Fraction(0))
    if step > 0:
        found = ceil(found / step) * step
    return int(found) if found.denominator == 1 or abs(found) > _SAFE else float(found)


def matching_text(pattern: Any, *, least: int) -> str | None:
    """Return a string of some length that a pattern matches; None if none is found."""
    if not isinstance(pattern, str) or isinstance(compile_regex(pattern), Unreadable):
        return None
    if least > _LONGEST:
        return None
    try:
        inside = [language(found_in_text(each)) for each in (pattern, f"^.{{{least},}}$")]
        return meeting(inside, (), within=PRINTABLE, steps=Steps(_MOST_STATES)).text
    except (Unread, TooLarge, OutOfSteps):
        return None


def _exact(number: int | float | Decimal) -> Fraction:
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
