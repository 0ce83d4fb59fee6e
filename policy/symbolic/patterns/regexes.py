"""Regular expressions of RE2 as expressions; syntax whose meaning is not certain is left out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from policy.solving import (
    ALL,
    ANY_TEXT,
    DIGITS,
    SPACE,
    WORD,
    Characters,
    Edge,
    Either,
    Expression,
    OneOf,
    Place,
    Row,
    Times,
    characters,
    these,
    without,
)

_DEEPEST = 100
_REPEAT = re.compile(r"\{([0-9]{1,4})(,([0-9]{0,4}))?\}", re.ASCII)
_GROUP = re.compile(r"\((?:\?P?<[A-Za-z_][A-Za-z0-9_]*>|\?([is]*)(?:-([is]+))?([:)])|(?!\?))")
_HEX = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})")
_POSIX = re.compile(r"\[:([a-z]+):\]")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_CLASSES = {"d": DIGITS, "w": WORD, "s": SPACE}
_POSIX_CLASSES: dict[str, Characters] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "blank": ((9, 9), (32, 32)),
    "digit": DIGITS,
    "lower": ((97, 122),),
    "upper": ((65, 90),),
    "space": ((9, 13), (32, 32)),
    "word": WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
_EDGES: dict[str, Place] = {"A": "start", "z": "end", "b": "word", "B": "no word"}
# The only characters beyond ASCII that are case variants of ASCII letters, by Unicode's simple
# case folding.
_BEYOND_ASCII = {"k": "\u212a", "s": "\u017f"}


class Unread(Exception):
    """The source contains syntax that is not translated."""


def found_in_text(source: str) -> Expression:
    """Return the strings in some part of which RE2 finds a match. Raises Unread."""
    return Row((ANY_TEXT, whole_text(source), ANY_TEXT))


def whole_text(source: str) -> Expression:
    """Return the strings all of which RE2 matches. Raises Unread.

    RE2 must have accepted the source.
    """
    reader = _Reader(source)
    try:
        found = reader.choice(_Flags(), 0)
    except IndexError:
        raise Unread from None
    if reader.position != len(source):
        raise Unread
    return found


@dataclass(frozen=True, slots=True)
class _Flags:
    folds: bool = False
    dot_is_all: bool = False


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0

    def choice(self, flags: _Flags, depth: int) -> Expression:
        """Read alternatives up to the end or a closing bracket."""
        if depth > _DEEPEST:
            raise Unread
        parts: list[Expression] = []
        while True:
            row, flags = self._row(flags, depth)
            parts.append(row)
            if not self._next("|"):
                return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _row(self, flags: _Flags, depth: int) -> tuple[Expression, _Flags]:
        parts: list[Expression] = []
        while self.position < len(self.source) and self.source[self.position] not in "|)":
            if self.source[self.position] == "(":
                item, flags = self._group(flags, depth)
            else:
                item = self._atom(flags)
            parts.append(self._repeated(item))
        return Row(tuple(parts)), flags

    def _repeated(self, item: Expression) -> Expression:
        while (times := self._times()) is not None:
            self._next("?")  # which of several matches is found does not matter
            item = Times(item, *times)
        return item

    def _times(self) -> tuple[int, int | None] | None:
        for sign, times in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._next(sign):
                return times
        found = _REPEAT.match(self.source, self.position)
        if found is None:
            return None
        self.position = found.end()
        least = int(found[1])
        return least, least if found[2] is None else (int(found[3]) if found[3] else None)

    def _group(self, flags: _Flags, depth: int) -> tuple[Expression, _Flags]:
        opening = _GROUP.match(self.source, self.position)
        if opening is None:
            raise Unread
        self.position = opening.end()
        on, off = opening[1] or "", opening[2] or ""
        inner = flags
        for letter, name in (("i", "folds"), ("s", "dot_is_all")):
            if letter in on + off:
                inner = replace(inner, **{name: letter in on})
        if opening[3] == ")":
            return Row(), inner
        found = self.choice(inner, depth + 1)
        if not self._next(")"):
            raise Unread
        return found, flags

    def _atom(self, flags: _Flags) -> Expression:
        char = self._take()
        match char:
            case "[":
                return OneOf(self._class(flags))
            case "\\":
                return self._escape(flags)
            case "^":
                return Edge("start")
            case "$":
                return Edge("end")
            case ".":
                return OneOf(ALL if flags.dot_is_all else without(these("\n")))
            case "*" | "+" | "?":
                raise Unread
            case _:
                return OneOf(_folded(these(char), flags))

    def _escape(self, flags: _Flags) -> Expression:
        place = _EDGES.get(self.source[self.position])
        if place is not None:
            self.position += 1
            return Edge(place)
        return OneOf(self._escaped(flags))

    def _escaped(self, flags: _Flags) -> Characters:
        """Read what follows a backslash: one character, or the class that it names."""
        hexadecimal = _HEX.match(self.source, self.position)
        if hexadecimal is not None:
            self.position = hexadecimal.end()
            code = int(hexadecimal[1] or hexadecimal[2], 16)
            return _folded(((code, code),), flags)
        char = self._take()
        if char.lower() in _CLASSES:
            named = _folded(_CLASSES[char.lower()], flags)
            return named if char in _CLASSES else without(named)
        if char in _CONTROLS:
            return these(_CONTROLS[char])
        if char.isalnum():
            raise Unread
        return _folded(these(char), flags)

    def _class(self, flags: _Flags) -> Characters:
        """Read a class after its opening bracket."""
        negated = self._next("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or self.source[self.position] != "]":
            first = False
            start = self.position
            low = self._class_item(flags)
            if self.source[self.position] == "-" and self.source[self.position + 1] != "]":
                self.position += 1
                high = self._class_item(_Flags())
                self.position, after = start, self.position
                low = self._class_item(_Flags())
                self.position = after
                if not _is_one(low) or not _is_one(high):
                    raise Unread
                ranges += _folded(((low[0][0], high[0][0]),), flags)
            else:
                ranges += low
        self.position += 1
        found = characters(ranges)
        return without(found) if negated else found

    def _class_item(self, flags: _Flags) -> Characters:
        named = _POSIX.match(self.source, self.position)
        if named is not None:
            self.position = named.end()
            if named[1] not in _POSIX_CLASSES:
                raise Unread
            return _folded(_POSIX_CLASSES[named[1]], flags)
        if self.source.startswith("[:", self.position):
            raise Unread
        char = self._take()
        return self._escaped(flags) if char == "\\" else _folded(these(char), flags)

    def _take(self) -> str:
        char = self.source[self.position]
        self.position += 1
        return char

    def _next(self, char: str) -> bool:
        found = self.source.startswith(char, self.position)
        self.position += found
        return found


def _is_one(chars: Characters) -> bool:
    return len(chars) == 1 and chars[0][0] == chars[0][1]


def _folded(chars: Characters, flags: _Flags) -> Characters:
    """Return the characters with their case variants, where letter case is ignored."""
    if not flags.folds:
        return chars
    more: list[tuple[int, int]] = []
    for low, high in chars:
        if high > 127:
            raise Unread
        for code in range(low, high + 1):
            char = chr(code)
            more += these(char.lower() + char.upper() + _BEYOND_ASCII.get(char.lower(), ""))
    return characters((*chars, *more))
