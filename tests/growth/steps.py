"""How many steps a function takes on a text: lines of Python, calls, and exchanges of marks.

A result that is a number is the size of what is handed on, and counts as well. What functions in C
do is not seen, but for the one that normalises: it exchanges neighbours until marks are in order.
Regular expressions have a count of their own, in `regex_steps`.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from types import FrameType
from typing import Any
from unittest.mock import patch

from policy.values import text as text_module
from policy.values.text import Form


class TooManySteps(BaseException):
    """More steps than are worth counting; no function may catch it."""


class _Counting:
    """Counts steps, and stands in for `unicodedata` where text is normalised."""

    combining = staticmethod(unicodedata.combining)
    is_normalized = staticmethod(unicodedata.is_normalized)
    category = staticmethod(unicodedata.category)

    def __init__(self, most: int) -> None:
        self.steps = 0
        self._most = most

    def trace(self, _frame: FrameType, event: str, _arg: Any) -> Any:
        """Count a line, or a call of a function in Python."""
        self.steps += 1
        if self.steps > self._most:
            raise TooManySteps
        return self.trace

    def profile(self, _frame: FrameType, event: str, _arg: Any) -> None:
        """Count a call of a function in C."""
        self.steps += event == "c_call"

    def normalize(self, form: Form, text: str) -> str:
        """Normalise a text, and count the exchanges that this takes."""
        whole: Form = "NFKD" if "K" in form else "NFD"
        self.steps += exchanges(decomposed(text, whole))
        return unicodedata.normalize(form, text)


def decomposed(text: str, form: Form) -> str:
    """Return a text with each character normalised by itself: its marks keep their order."""
    return "".join(unicodedata.normalize(form, char) for char in text)


def exchanges(text: str) -> int:
    """Return how often two neighbours are exchanged until the marks of a text are in order."""
    count, before = 0, [0] * 256
    for char in text:
        kind = unicodedata.combining(char)
        if kind == 0:
            before = [0] * 256
        else:
            count += sum(before[kind + 1 :])
            before[kind] += 1
    return count


def steps_of(read: Callable[[str], Any], text: str, *, most: int = 30_000_000) -> int:
    """Return the steps that reading a text takes; a few more than `most` stand for any more."""
    counting = _Counting(most)
    before = sys.gettrace(), sys.getprofile()
    with patch.object(text_module, "unicodedata", counting):
        sys.setprofile(counting.profile)
        sys.settrace(counting.trace)
        try:
            found = read(text)
            counting.steps += found if isinstance(found, int) else 0
        except TooManySteps:
            pass
        finally:
            sys.settrace(before[0])
            sys.setprofile(before[1])
    return counting.steps
