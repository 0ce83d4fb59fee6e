"""The positions of keys and values in the text of a valid TOML file, for diagnostics."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from policy.model import Source, Span

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?s:(?:[^"\\]|\\.|"(?!""))*)"{3,5}'
    r"|'''(?s:(?:[^']|'(?!''))*)'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
)
_TOKEN = re.compile(rf"{_STRING.pattern}|#[^\n]*")
_SCALAR = re.compile(r"[^,\]}#\n]*")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlPosition:
    """The position of a key, and of its value (for a table, its header)."""

    key: Span
    value: Span


def comments(text: str) -> tuple[str, ...]:
    """Return the comments of a text that parses, in order, without what surrounds them."""
    return tuple(
        found.group().rstrip() for found in _TOKEN.finditer(text) if found.group()[0] == "#"
    )


def positions_of(source: Source) -> Mapping[Path, TomlPosition]:
    """Return the positions of all keys by their path; empty if the text cannot be followed.

    The elements of an array have no positions.
    """
    scanner = _Scanner(source)
    with suppress(_LostError, tomllib.TOMLDecodeError, RecursionError):
        scanner.document()
    return scanner.found


class _LostError(Exception):
    """The text is not what the scanner expects; positions found before are still valid."""


class _Scanner:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.at = 0
        self.found: dict[Path, TomlPosition] = {}

    def document(self) -> None:
        table: Path = ()
        while self._skip_blank() < len(self.text):
            if self.text.startswith("[", self.at):
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Path:
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        path = self._key(())
        self._expect("]" * brackets)
        return path

    def _pair(self, table: Path) -> None:
        path = self._key(table)
        self._expect("=")
        self._skip_blank()
        begin = self.at
        self._value(path)
        stop = self._trimmed(begin, self.at)
        value = self.source.span(begin, stop)
        self.found[path] = TomlPosition(key=self.found[path].key, value=value)

    def _key(self, table: Path) -> Path:
        """Read a dotted key below `table`, noting the position of each of its steps."""
        path = table
        while True:
            self._skip_blank()
            start = self.at
            path = (*path, self._key_part())
            span = self.source.span(start, self.at)
            self.found.setdefault(path, TomlPosition(key=span, value=span))
            self._skip_blank()
            if not self.text.startswith(".", self.at):
                return path
            self.at += 1

    def _key_part(self) -> str:
        bare = _BARE_KEY.match(self.text, self.at)
        if bare is not None:
            self.at = bare.end()
            return bare.group()
        quoted = self._string()
        # The one reader that knows TOML's escapes is TOML's own.
        return next(iter(tomllib.loads(f"{quoted} = 0")))

    def _value(self, path: Path) -> None:
        char = self.text[self.at : self.at + 1]
        if char in ('"', "'"):
            self._string()
        elif char == "[":
            self._items("]", path=None)
        elif char == "{":
            self._items("}", path=path)
        else:
            self.at = _matched(_SCALAR, self.text, self.at)

    def _items(self, end: str, *, path: Path | None) -> None:
        self.at += 1
        while True:
            self._skip_blank()
            if self.text.startswith(end, self.at):
                self.at += 1
                return
            if self.text.startswith(",", self.at):
                self.at += 1
                continue
            before = self.at
            if path is None:
                self._value(("",))
            else:
                self._pair(path)
            if self.at == before:
                raise _LostError

    def _string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise _LostError
        self.at = found.end()
        return found.group()

    def _skip_blank(self) -> int:
        self.at = _matched(_BLANK, self.text, self.at)
        return self.at

    def _expect(self, text: str) -> None:
        self._skip_blank()
        if not self.text.startswith(text, self.at):
            raise _LostError
        self.at += len(text)

    def _trimmed(self, start: int, stop: int) -> int:
        return start + len(self.text[start:stop].rstrip())


def _matched(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None  # the pattern matches the empty text
    return found.end()
