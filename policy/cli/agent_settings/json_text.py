"""Adds or removes one value in the text of a JSON file with comments; all else stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"[-+.\w]+")


class NotJson(ValueError):
    """A text that is not JSON, even with comments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value and its position. `entries` are the parts of an object or array."""

    start: int
    end: int
    value: Any
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One part of an object or array; `key` is empty in an array."""

    start: int
    key: str
    node: Node


@dataclass(slots=True)
class _JsonScanner:
    text: str
    at: int = 0
    _depth: int = field(default=0)

    def whole(self) -> Node:
        node = self.value()
        self.skip()
        if self.at != len(self.text):
            raise NotJson(f"something follows the value at character {self.at}")
        return node

    def skip(self) -> None:
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def value(self) -> Node:
        self.skip()
        start, sign = self.at, self.text[self.at : self.at + 1]
        if sign == "{":
            entries = tuple(self._entries("}"))
            return Node(
                start=start,
                end=self.at,
                value={entry.key: entry.node.value for entry in entries},
                entries=entries,
            )
        if sign == "[":
            entries = tuple(self._entries("]"))
            return Node(
                start=start,
                end=self.at,
                value=[entry.node.value for entry in entries],
                entries=entries,
            )
        found = (_STRING if sign == '"' else _SCALAR).match(self.text, start)
        if found is None:
            raise NotJson(f"a value is missing at character {start}")
        self.at = found.end()
        try:
            return Node(start=start, end=self.at, value=json.loads(found[0]))
        except ValueError as error:
            raise NotJson(f"no JSON value at character {start}") from error

    def _entries(self, closing: str) -> Iterator[Entry]:
        self._depth += 1
        if self._depth > 100:
            raise NotJson("nested too deeply")
        self.at += 1
        self.skip()
        while not self._takes(closing):
            start, key = self.at, ""
            if closing == "}":
                named = self.value()
                if not isinstance(named.value, str):
                    raise NotJson(f"a key is missing at character {start}")
                key = named.value
                self.skip()
                if not self._takes(":"):
                    raise NotJson(f"`:` is missing at character {self.at}")
            yield Entry(start=start, key=key, node=self.value())
            self.skip()
            if not self._takes(",") and self.text[self.at : self.at + 1] != closing:
                raise NotJson(f"`,` is missing at character {self.at}")
            self.skip()
        self._depth -= 1

    def _takes(self, sign: str) -> bool:
        if self.text[self.at : self.at + 1] != sign:
            return False
        self.at += 1
        return True


def read(text: str) -> Node:
    """Return the value in a text, with the places of its parts; raise NotJson."""
    return _JsonScanner(text).whole()


def added(text: str, container: Node, value: Any, *, key: str | None = None) -> str:
    """Return the text with one more value at the end of an object (under `key`) or array."""
    outer = _indentation(text, container.start)
    inner = outer + _step(text)
    shown = json.dumps(value, indent=len(_step(text)), ensure_ascii=False)
    shown = shown.replace("\n", "\n" + inner)
    if key is not None:
        shown = f"{json.dumps(key)}: {shown}"
    closing = container.end - 1
    head, between = text[: container.start + 1], ""
    if container.entries:
        last = container.entries[-1].node.end
        head, between = text[:last], text[last:closing]
        comma = _BLANK.sub("", between).startswith(",")
        head += "" if comma else ","
    return f"{head}{between.rstrip()}\n{inner}{shown}\n{outer}{text[closing:]}"


def removed(text: str, container: Node, entry: Entry) -> str:
    """Return the text without one part of an object or array, and without its comma."""
    place = container.entries.index(entry)
    if len(container.entries) == 1:
        rest = text[entry.node.end : container.end - 1].replace(",", "", 1)
        kept = text[container.start + 1 : entry.start].rstrip() + rest.rstrip()
        return f"{text[: container.start + 1]}{kept}{text[container.end - 1 :]}"
    if place + 1 < len(container.entries):
        return text[: entry.start] + text[container.entries[place + 1].start :]
    before = container.entries[place - 1].node.end
    between = text[before : entry.start]
    comma = between.index(",", _BLANK.match(between).end())  # type: ignore[union-attr]
    kept = (between[:comma] + between[comma + 1 :]).rstrip()
    return text[:before] + kept + text[entry.node.end :]


def replaced(text: str, node: Node, value: Any) -> str:
    """Return the text with one value replaced by another."""
    step = _step(text)
    shown = json.dumps(value, indent=len(step), ensure_ascii=False)
    shown = shown.replace("\n", "\n" + _indentation(text, node.start))
    return text[: node.start] + shown + text[node.end :]


def _indentation(text: str, at: int) -> str:
    """Return the indentation of the line of a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """Return the indentation step that a text uses."""
    found = re.search(r"\n( +)\S", text)
    return found[1] if found else "  "
