"""The reference for redacted results: every text of a value, one character after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

# The expression and what replaces its matches.
Wanted: TypeAlias = tuple[str, str]


class Withheld(Exception):
    """A value that must not be returned."""


def redacted_value(value: Any, wanted: Sequence[Wanted]) -> Any:
    """Return a JSON value with every string, number and key redacted; raise Withheld."""
    match value:
        case None | bool():
            return value
        case str():
            return redacted_text(value, wanted)
        case int() | float():
            spelled = json.dumps(value)
            redacted = redacted_text(spelled, wanted)
            return value if redacted == spelled else redacted
        case list():
            return [redacted_value(item, wanted) for item in value]
        case dict():
            return _object(value, wanted)
        case _:
            raise Withheld


def _object(value: Mapping[str, Any], wanted: Sequence[Wanted]) -> dict[str, Any]:
    names = {key: redacted_text(key, wanted) for key in value}
    taken = {key for key, name in names.items() if key == name}
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = names[key]
        if name != key:
            name = next(n for n in _numbered(name) if n not in taken)
            taken.add(name)
            if redacted_once(name, wanted) != name:
                raise Withheld
        found[name] = redacted_value(item, wanted)
    return found


def _numbered(name: str) -> Any:
    yield name
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1


def redacted_text(text: str, wanted: Sequence[Wanted]) -> str:
    """Return a redacted text that another redaction would not change; raise Withheld."""
    redacted = redacted_once(text, wanted)
    if redacted_once(redacted, wanted) != redacted:
        raise Withheld
    return redacted


def redacted_once(text: str, wanted: Sequence[Wanted]) -> str:
    """Replace all matches on the original text; overlapping ones are replaced once."""
    marks: list[set[str]] = [set() for _ in text]
    joins = [False for _ in text]
    for pattern, replacement in wanted:
        for found in re.finditer(pattern, text):
            for place in range(found.start(), found.end()):
                marks[place].add(replacement)
                joins[place] = joins[place] or place > found.start()
    result, place = "", 0
    while place < len(text):
        if not marks[place]:
            result += text[place]
            place += 1
            continue
        words = set(marks[place])
        place += 1
        while place < len(text) and marks[place] and joins[place]:
            words |= marks[place]
            place += 1
        result += words.pop() if len(words) == 1 else "[redacted]"
    return result
