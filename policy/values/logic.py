"""Three-valued logic: True, False, and None for an indeterminate answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Answer: TypeAlias = bool | None


def any_of(answers: Iterable[Answer]) -> Answer:
    """Return True if any answer is True, else None if one is None, else False."""
    unknown = False
    for answer in answers:
        if answer:
            return True
        unknown = unknown or answer is None
    return None if unknown else False


def both(a: Answer, b: Answer) -> Answer:
    """Return False if either is False, else None if one is None, else True."""
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def negate(answer: Answer) -> Answer:
    """Return the opposite; None stays None."""
    return None if answer is None else not answer
