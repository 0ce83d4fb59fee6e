"""Bounds the tables of a WebAssembly module, which Extism does not count as its memory.

In a compiled module a table without a maximum, or with a greater one, gets one: the module finds
that growing fails, as it does for memory. In a module that is text, its author writes the maximum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from policy.capabilities import PluginRefused

MOST_ENTRIES = 1_000_000
"""How many entries the tables of a module have at most; an entry takes 8 bytes."""

_MAGIC = b"\0asm"
_HEADER = 8  # bytes: the magic and the version
_TABLES = 4  # the number of the section
_WITH_VALUE, _REFERENCES = 0x40, (0x63, 0x64)
_BOUNDED, _WIDE = 1, 4  # flags of limits
_TOO_MANY = f"its tables have more than {MOST_ENTRIES:,} entries"
_TOKEN = re.compile(r'[ \t\n\r]+|;;[^\n]*|"(?:[^"\\]|\\.)*"|[()]|[^ \t\n\r()";]+|.', re.DOTALL)
_ENDS = 4  # empty tokens behind the last one
# No number of 64 bits has more digits.
_NUMBER = re.compile(r"(?:0x[0-9a-fA-F](?:_?[0-9a-fA-F]){0,15}|[0-9](?:_?[0-9]){0,19})\Z")


def with_bounded_tables(module: bytes) -> bytes:
    """Return a module whose tables are bounded; raise PluginRefused if they cannot be."""
    if not module.startswith(_MAGIC):
        _require_bounded(module.decode("utf-8", "replace"))
        return module
    try:
        return module[:_HEADER] + b"".join(
            _section(id, _bounded(content) if id == _TABLES else content)
            for id, content in _sections(module)
        )
    except IndexError as error:
        raise _refused("it ends too soon") from error


def _refused(why: str) -> PluginRefused:
    return PluginRefused(f"the module cannot be used: {why}")


# ---- compiled modules
@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """One table of a compiled module: the bytes of its type, and its limits."""

    type: bytes
    wide: bool
    least: int
    most: int | None

    def written(self, most: int) -> bytes:
        most = max(self.least, most if self.most is None else min(self.most, most))
        flags = _BOUNDED | (_WIDE if self.wide else 0)
        return b"".join((self.type, bytes([flags]), _number(self.least), _number(most)))


class _Reader:
    """Reads bytes from the start; raises IndexError at their end."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def number(self) -> int:
        found, shift = 0, 0
        while True:
            byte = self.byte()
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return found
            if shift > 70:
                raise _refused("it has a number of too many bytes")


def _sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    reader = _Reader(module)
    reader.at = _HEADER
    while reader.at < len(module):
        id, size = reader.byte(), reader.number()
        if reader.at + size > len(module):
            raise IndexError
        yield id, module[reader.at : reader.at + size]
        reader.at += size


def _section(id: int, content: bytes) -> bytes:
    return b"".join((bytes([id]), _number(len(content)), content))


def _bounded(content: bytes) -> bytes:
    """Return the section of tables with a maximum for each."""
    reader = _Reader(content)
    tables = [_table(reader) for _ in range(min(reader.number(), MOST_ENTRIES))]
    if sum(table.least for table in tables) > MOST_ENTRIES:
        raise _refused(_TOO_MANY)
    share = MOST_ENTRIES // max(1, len(tables))
    return _number(len(tables)) + b"".join(table.written(share) for table in tables)


def _table(reader: _Reader) -> _Table:
    start = reader.at
    kind = reader.byte()
    if kind == _WITH_VALUE:
        raise _refused("it has a table with an initial value")
    if kind in _REFERENCES:
        reader.number()
    type = reader.content[start : reader.at]
    flags = reader.byte()
    if flags & ~(_BOUNDED | _WIDE):
        raise _refused("it has a table that is shared")
    least = reader.number()
    most = reader.number() if flags & _BOUNDED else None
    return _Table(type=type, wide=bool(flags & _WIDE), least=least, most=most)


def _number(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


# ---- modules that are text
def _require_bounded(text: str) -> None:
    tokens = [*_tokens(text), *[""] * _ENDS]
    if not {"binary", "quote"}.isdisjoint(tokens):
        raise _refused("its text holds another module as a string")
    pairs = enumerate(pairwise(tokens), start=2)
    if sum(_most(tokens, at) for at, two in pairs if two == ("(", "table")) > MOST_ENTRIES:
        raise _refused(_TOO_MANY)


def _most(tokens: list[str], at: int) -> int:
    """Return how many entries the table may have whose description continues here."""
    if tokens[at].startswith("$"):
        at += 1
    while tokens[at : at + 2] in (["(", "export"], ["(", "import"]):
        at = tokens.index(")", at) + 1 if ")" in tokens[at:] else len(tokens) - _ENDS
    if tokens[at] in ("i32", "i64"):
        at += 1
    first, second, third = tokens[at : at + 3]
    if ")" in (first, second) or (second, third) == ("(", "elem"):
        return 0  # it names a table, or has as many entries as are written
    if not (_NUMBER.match(first) and _NUMBER.match(second)):
        raise _refused("a table in its text has no maximum: write `(table 1 100 funcref)`")
    return int(second.replace("_", ""), 16 if second.startswith("0x") else 10)


def _tokens(text: str) -> Iterator[str]:
    """Yield the tokens of a text, without spaces and comments."""
    if "\r" in text.replace("\r\n", "\n"):
        raise _refused("its text has a carriage return without a line feed")
    at = 0
    while at < len(text):
        if text.startswith("(;", at):
            at = _after_comment(text, at)
            continue
        found = _TOKEN.match(text, at)
        assert found is not None
        at = found.end()
        if not found[0].isspace() and not found[0].startswith(";;"):
            yield found[0]


def _after_comment(text: str, at: int) -> int:
    """Return the place behind a comment, in which there may be others."""
    depth = 0
    for mark in re.compile(r"\(;|;\)").finditer(text, at):
        depth += 1 if mark[0] == "(;" else -1
        if not depth:
            return mark.end()
    return len(text)
