"""The text of a TOML file and one change in; the text with that change and no other out.

Only the characters of the entry itself are written anew: comments, blank lines, order, quoting and
line endings of all the rest stay as they are. A new key goes below the last one of its table, a new
table to the end of the file; an entry that is taken away takes the comment on its own line along,
and its table where nothing is left in it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit

from policy.reload.places import Entry, Header, Path, comments, outline
from policy.reload.toml_words import write_key, write_value
from policy.source import Source
from policy.values import Unreadable

_IN_THE_WAY = "the key cannot stand in this file as it is written; edit the file"
_REPEATED = "a list of tables cannot be edited by key; edit the file"
_REST = re.compile(r"[ \t]*(?:#[^\n]*?)?[ \t]*(?=\r?\n|\Z)")
_END = re.compile(r"\r?\n")
_BLANK_BEFORE = re.compile(r"(?:(?<=\n)|\A)[ \t]*\r?\n\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The key that was to be taken away is not there."""


def value_at(table: Mapping[str, Any], path: Path) -> Any:
    """Return what stands at a path of parsed TOML; None, which TOML does not have, for nothing."""
    found: Any = table
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def set_value(text: str, path: Path, value: Any) -> str | Unreadable:
    """Return the text with `value` at `path`; `text` is TOML."""
    literal = write_value(value)
    if isinstance(literal, Unreadable):
        return literal
    sheet = _Sheet.of(text)
    if isinstance(sheet, Unreadable):
        return sheet
    return _proved(text, sheet.put(path, literal, value), path, value)


def unset_value(text: str, path: Path) -> str | Unreadable | Missing:
    """Return the text without the entry at `path`; `text` is TOML."""
    sheet = _Sheet.of(text)
    if isinstance(sheet, Unreadable):
        return sheet
    if value_at(tomllib.loads(text), path) is None:
        return Missing()
    return _proved(text, sheet.take(path), path, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """A text with its headers and entries in order."""

    text: str
    lines: tuple[Header | Entry, ...]

    @classmethod
    def of(cls, text: str) -> _Sheet | Unreadable:
        lines = outline(Source(name="", text=text))
        if lines is None:
            return Unreadable(reason="the file is written in a way that cannot be followed")
        return cls(text=text, lines=lines)

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(line for line in self.lines if isinstance(line, Entry))

    # ---------------------------------------------------------------- put

    def put(self, path: Path, literal: str, value: Any) -> str | Unreadable:
        """Write a value over the one that is there, or beside its neighbours."""
        if self._is_repeated(path):
            return Unreadable(reason=_REPEATED)
        for entry in self.entries:
            if entry.path == path:
                return self._over(entry, literal)
            if entry.path == path[: len(entry.path)]:
                return self._within(entry, path[len(entry.path) :], value)
        if any(line.path[: len(path)] == path for line in self.lines):
            return Unreadable(reason=f"`{write_key(path)}` is a table: set one of its keys")
        return self._beside(path, literal)

    def _over(self, entry: Entry, literal: str) -> str | Unreadable:
        if comments(self.text[entry.value : entry.stop]):
            return Unreadable(
                reason="the list holds comments, which a new value would drop; edit the file"
            )
        return self.text[: entry.value] + literal + self.text[entry.stop :]

    def _within(self, entry: Entry, rest: Path, value: Any) -> str | Unreadable:
        """Change a key inside a value: an inline table is written by tomlkit."""
        document = tomlkit.parse(f"value = {self.text[entry.value : entry.stop]}\n")
        table: Any = document["value"]
        for name in rest[:-1]:
            if not isinstance(table, dict):
                break
            if name not in table:
                table[name] = tomlkit.inline_table()
            table = table[name]
        if not isinstance(table, dict):
            return Unreadable(reason=f"`{write_key(entry.path)}` is no table")
        if value is None:
            del table[rest[-1]]
        else:
            table[rest[-1]] = value
        written = document.as_string().removeprefix("value = ").removesuffix("\n")
        return self.text[: entry.value] + written + self.text[entry.stop :]

    def _beside(self, path: Path, literal: str) -> str:
        above = self._neighbour(path)
        if above is None:
            return self._at_the_end(path, literal)
        section = above.path if isinstance(above, Header) else above.table
        key = write_key(path[len(section) :])
        start = self._line_start(above.start)
        indent = self.text[start : above.start]
        if indent.strip():  # not at the beginning of its line
            indent = ""
        return self._below(above, f"{indent}{key} = {literal}")

    def _neighbour(self, path: Path) -> Header | Entry | None:
        """Return the line below which a new key belongs: the last one of its table."""
        found: Header | Entry | None = None
        for line in self.lines:
            if isinstance(line, Header):
                found = line if line.path == path[:-1] else found
            elif line.path[: len(path) - 1] == path[:-1] and _is_section(line, path):
                found = line
        return found

    def _at_the_end(self, path: Path, literal: str) -> str:
        end = self._ending()
        entry = f"{write_key(path[-1:])} = {literal}{end}"
        if len(path) == 1:  # before all headers, at the top of the file
            return entry + self.text
        before = self.text
        if before and not before.endswith("\n"):
            before += end
        if before and not before.endswith(("\n\n", "\n\r\n")):
            before += end
        return f"{before}[{write_key(path[:-1])}]{end}{entry}"

    def _below(self, line: Header | Entry, written: str) -> str:
        place = self._line_stop(line.stop)
        ended = _END.match(self.text, place)
        if ended is None:
            return f"{self.text[:place]}{self._ending()}{written}{self.text[place:]}"
        return f"{self.text[: ended.end()]}{written}{ended.group()}{self.text[ended.end() :]}"

    # ---------------------------------------------------------------- take

    def take(self, path: Path) -> str | Unreadable:
        """Take an entry away, and its table where nothing is left in it."""
        if self._is_repeated(path):
            return Unreadable(reason=_REPEATED)
        for entry in self.entries:
            if entry.path == path:
                return self._without(entry)
            if entry.path == path[: len(entry.path)]:
                return self._within(entry, path[len(entry.path) :], None)
        return Unreadable(reason=f"`{write_key(path)}` is a table: unset its keys one by one")

    def _without(self, entry: Entry) -> str | Unreadable:
        if comments(self.text[entry.value : entry.stop]):
            return Unreadable(reason="the list holds comments; edit the file")
        start, stop = self._line_start(entry.start), self._line_stop(entry.stop)
        ended = _END.match(self.text, stop)
        if ended is not None:
            stop = ended.end()
        elif start:
            start -= 2 if self.text.endswith("\r\n", 0, start) else 1
        header = self._alone(entry)
        if header is not None:
            start, stop = self._section(header, start, stop)
        return self.text[:start] + self.text[stop:]

    def _alone(self, entry: Entry) -> Header | None:
        """Return the header whose one line this entry is, if nothing else is said there."""
        place = self.lines.index(entry)
        header = self.lines[place - 1] if place else None
        following = self.lines[place + 1] if place + 1 < len(self.lines) else None
        if not isinstance(header, Header) or header.array or isinstance(following, Entry):
            return None
        begin = self._line_stop(header.stop, comment=False)
        end = len(self.text) if following is None else following.start
        around = self.text[begin : entry.start] + self.text[self._line_stop(entry.stop) : end]
        return header if not around.strip() else None

    def _section(self, header: Header, start: int, stop: int) -> tuple[int, int]:
        """Widen what is cut out to the header, and to one blank line above it."""
        start = self._line_start(header.start)
        blank = _BLANK_BEFORE.search(self.text, 0, start)
        return start if blank is None else blank.start(), stop

    # ---------------------------------------------------------------- lines

    def _is_repeated(self, path: Path) -> bool:
        """Tell whether a key stands in a list of tables, so that its path is that of many."""
        headers = (line for line in self.lines if isinstance(line, Header) and line.array)
        return any(path[: len(header.path)] == header.path for header in headers)

    def _line_start(self, place: int) -> int:
        return self.text.rfind("\n", 0, place) + 1

    def _line_stop(self, place: int, *, comment: bool = True) -> int:
        """Return where the line's own text ends, its comment included."""
        if not comment:
            return place
        found = _REST.match(self.text, place)
        return place if found is None else found.end()

    def _ending(self) -> str:
        first = _END.search(self.text)
        return first.group() if first else "\n"


def _is_section(entry: Entry, path: Path) -> bool:
    """Tell whether a new key may stand below an entry: under a header that both share."""
    return entry.table == path[: len(entry.table)] and len(entry.table) < len(path)


def _proved(before: str, after: str | Unreadable, path: Path, value: Any) -> str | Unreadable:
    """Return the new text once TOML's own reader finds that change in it and no other."""
    if isinstance(after, Unreadable):
        return after
    wanted = tomllib.loads(before)
    _change(wanted, path, value)
    try:
        found = tomllib.loads(after)
    except (ValueError, RecursionError):
        return Unreadable(reason=_IN_THE_WAY)
    gone = len(comments(before)) - len(comments(after))
    # The comment on the line of an entry goes with it; all others stay.
    if _settled(found) != _settled(wanted) or gone > (1 if value is None else 0):
        return Unreadable(reason=_IN_THE_WAY)
    return after


def _change(table: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        table = inner
    if value is None:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value


def _settled(value: Any) -> Any:
    """Return a value to be compared: tables without order or empty tables, kinds told apart."""
    match value:
        case Mapping():
            parts = {key: _settled(part) for key, part in value.items()}
            return {key: part for key, part in parts.items() if part != {}}
        case list() | tuple():
            return [_settled(part) for part in value]
        case _:
            return (type(value).__name__, repr(value))
