"""The reference evaluator's `named by user`: looks at every place of every message.

Canonical forms are known of numbers and of relative paths in the working directory only; laws draw
no others that differ from their spelling.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Any

from policy.model import Facts
from tests.reference_values import Truth, as_number, without_hidden

_MARKS = ".,;:!?…"
_BOUNDS = ' "`()[]{}<>“”'


def named_by_user(value: Any, facts: Facts) -> Truth:
    """Tell whether one value stands in some message as a whole."""
    if facts.said is None or value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        number = as_number(value)
        return None if number is None else any(number in _numbers(text) for text in facts.said)
    if without_hidden(value) != unicodedata.normalize("NFC", value):
        return None
    wanted = [form for form in _forms(_folded(value), facts) if _is_enough(form)]
    if any(_stands(form, _folded(text)) for form in wanted for text in facts.said):
        return True
    spelled = _number(_folded(value))
    if spelled is not None and any(spelled in _numbers(text) for text in facts.said):
        return True
    shown = [without_hidden(text) for text in facts.said]
    hidden = any(_stands(form, _folded(text)) for form in wanted for text in shown) or (
        spelled is not None and any(spelled in _numbers(text) for text in shown)
    )
    return None if hidden else False


def kept_of(said: tuple[str, ...]) -> tuple[str, ...]:
    """Return the messages that are kept: the last ones, without those that are too long."""
    short = [text for text in said if _size(text) <= 200_000]
    most = 500_000 if sum(map(_size, short)) <= 500_000 else 500_000 - 500_000 // 16
    while sum(map(_size, short)) > most:
        short = short[1:]
    return tuple(short)


def _size(text: str) -> int:
    return max(50, len(text.encode("utf-8", "surrogatepass")))


def _forms(value: str, facts: Facts) -> list[str]:
    """Return the value, and what else may be written for a path."""
    if "/" not in value or "://" in value:
        return [value]
    base = (facts.cwd or facts.workspace or "/nowhere").casefold()
    absolute: list[str] = []
    for step in (value if value.startswith("/") else f"{base}/{value}").split("/"):
        if step == "..":
            absolute = absolute[:-1]
        elif step not in ("", "."):
            absolute.append(step)
    whole = "/" + "/".join(absolute)
    return [value, whole, *([whole[len(base) + 1 :]] if whole.startswith(f"{base}/") else [])]


def _folded(text: str) -> str:
    return " ".join(
        unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split()
    )


def _is_enough(form: str) -> bool:
    is_long = len(form) >= 3 and any(char.isalnum() for char in form)
    return is_long or _number(form) is not None


def _stands(value: str, text: str) -> bool:
    """Try every place at which the value occurs."""
    return any(
        text.startswith(value, start)
        and _is_bound(text, start - 1)
        and _ends(text, start + len(value))
        for start in range(len(text))
    )


def _ends(text: str, end: int) -> bool:
    while end < len(text) and text[end] in _MARKS:
        end += 1
    return _is_bound(text, end)


def _is_bound(text: str, place: int) -> bool:
    if place < 0 or place >= len(text) or text[place].isspace() or text[place] in _BOUNDS:
        return True
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    return text[place] in "'’" and not (before.isdigit() and after.isdigit())


def _numbers(text: str) -> set[Fraction]:
    """Return the numbers of a message, each bounded as a value is."""
    found = set()
    folded = _folded(text)
    for start in range(len(folded)):
        for end in range(start + 1, min(len(folded), start + 41) + 1):
            number = _number(folded[start:end])
            if number is not None and _is_bound(folded, start - 1) and _ends(folded, end):
                found.add(number)
    return found


def _number(text: str) -> Fraction | None:
    read = re.fullmatch(r"[#$€]?([+-]?)[$€]?([0-9][0-9,]*)((?:\.[0-9]+)?)[%$€]?", text)
    if read is None or (len(read[2]) > 1 and read[2].startswith("0")):
        return None
    if "," in read[2] and not re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", read[2]):
        return None
    return Fraction(read[1] + read[2].replace(",", "") + read[3])
