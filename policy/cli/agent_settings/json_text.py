"""Adds or removes one value in the text of a JSON file with comments; all else stays.

No library for such files keeps their comments, order and line ends (decision 0065).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
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
    """Return the text with one more value at the end of an object (under `key`) or array.

    All that stands in the text stays, so that `removed` can restore it to the byte.
    """
    inner = _indentation(text, container.start) + _step(text)
    shown = _shown(text, value, inner)
    if key is not None:
        shown = f"{json.dumps(key)}: {shown}"
    closing = container.end - 1
    if not container.entries:
        within = text[container.start + 1 : closing].rstrip()
        at = container.start + 1 + len(within)
        # After a comment, a new line: the comment may last until the end of its own.
        before = f"{_line_end(text)}{inner}" if within else ""
        return f"{text[:at]}{before}{shown}{text[at:]}"
    last = container.entries[-1].node.end
    between = text[last:closing].rstrip()
    at = last + len(between)
    has_comma = _comma(text, last) is not None
    head = text[:at] if has_comma else f"{text[:last]},{between}"
    return f"{head}{_line_end(text)}{inner}{shown}{',' if has_comma else ''}{text[at:]}"


def removed(text: str, container: Node, entry: Entry) -> str:
    """Return the text without one part of an object or array, and without its comma."""
    place = container.entries.index(entry)
    own = _comma(text, entry.node.end)
    head, tail = text[: entry.start].rstrip(), text[entry.node.end :]
    before = container.entries[place - 1].node.end if place else container.start + 1
    if own is not None:
        # What stands between the part and its comma, and after it, belongs to the user.
        tail = text[entry.node.end : own] + text[own + 1 :]
    if _ends_in_line_comment(text[before : entry.start]) and tail.partition("\n")[0].strip():
        head = text[: entry.start]  # what follows is not to become a part of the comment
    if own is not None:
        return head + tail
    if place:
        comma = _comma(text, before)
        assert comma is not None
        head = head[:comma] + head[comma + 1 :]
    return head + tail


def _ends_in_line_comment(gap: str) -> bool:
    """Return whether what stands before a part ends in a comment that lasts until its line ends."""
    comments = list(_COMMENT.finditer(gap.rstrip()))
    if not comments or comments[-1].end() < len(gap.rstrip()):
        return False
    return comments[-1][0].startswith("//")


def _comma(text: str, at: int) -> int | None:
    """Return where the comma is that follows a value, past blanks and comments."""
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end() if text[found.end() : found.end() + 1] == "," else None


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _shown(text: str, value: Any, indentation: str) -> str:
    shown = json.dumps(value, indent=len(_step(text)), ensure_ascii=False)
    return shown.replace("\n", _line_end(text) + indentation)


def replaced(text: str, node: Node, value: Any) -> str:
    """Return the text with one value replaced by another."""
    shown = _shown(text, value, _indentation(text, node.start))
    return text[: node.start] + shown + text[node.end :]


def _indentation(text: str, at: int) -> str:
    """Return the indentation of the line of a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """Return the indentation step that a text uses."""
    found = re.search(r"\n( +)\S", text)
    return found[1] if found else "  "
