"""The difference between two definitions as lines for people, with nothing hidden in them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from policy.pins.definitions import Definition
from policy.values import escape_for_display

# Nothing is cut: what is not shown could not have been reviewed. The size is limited elsewhere.
_NO_LIMIT = 10**9
# Lines times lines: comparing takes longer than that with each of them.
_MOST_COMPARED = 4_000_000
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_$-]+")


def difference(before: Definition | None, now: Definition | None) -> tuple[str, ...]:
    """Return the lines that were removed (`- `) and added (`+ `), in the order of both."""
    old, new = (list(_lines(value)) for value in (before, now))
    if len(old) * len(new) > _MOST_COMPARED:
        return _outer_difference(old, new)
    lines = difflib.unified_diff(old, new, n=0, lineterm="")
    return tuple(
        f"{line[0]} {line[1:]}"
        for number, line in enumerate(lines)
        if number > 1 and line[0] in "+-"
    )


def _outer_difference(old: list[str], new: list[str]) -> tuple[str, ...]:
    """Return all lines between those that both begin with and those that both end with."""
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    return (
        *(f"- {line}" for line in old[first : len(old) - last]),
        *(f"+ {line}" for line in new[first : len(new) - last]),
    )


def _alike(old: list[str], new: list[str]) -> int:
    """Return how many lines are alike from the beginning on."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)))


def _lines(definition: Definition | None) -> Iterator[str]:
    if definition is not None:
        for key, value in sorted(definition.items()):
            yield from _value(value, _below("", key))


def _value(value: Any, path: str) -> Iterator[str]:
    """Yield a line for each value, and for each line of a string, with the path to it."""
    if isinstance(value, Mapping) and value:
        for key, item in sorted(value.items()):
            yield from _value(item, _below(path, key))
    elif isinstance(value, (list, tuple)) and value:
        for number, item in enumerate(value):
            yield from _value(item, f"{path}[{number}]")
    elif isinstance(value, str):
        for line in value.split("\n"):
            yield f"{path}: {_escaped(line)}"
    else:
        yield f"{path} = {_plain(value)}"


def _below(path: str, key: str) -> str:
    """Return the path of a key; one with other characters must not look like a path."""
    if not _PLAIN_KEY.fullmatch(key):
        return f'{path}["{_escaped(key)}"]'
    return f"{path}.{key}" if path else key


def _escaped(text: str) -> str:
    """Return a text in which nothing is hidden, also not at its end; no two look the same."""
    shown = escape_for_display(text.replace("\\", "\\\\"), _NO_LIMIT)
    return f"{shown[:-1]}\\u{{20}}" if shown.endswith(" ") else shown


def _plain(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case Mapping():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            return str(value)
