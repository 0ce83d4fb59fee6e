"""Expands an RE2 expression to its alternatives, each a row of tokens, if they are few.

A word is a row of tokens: literal text, an edge of the text, or a gap of which something is known
(`LINE`, `TEXT`, `MAYBE`) or nothing (`OPAQUE`). Syntax whose meaning in RE2 is not certain is not
expanded; the source must be one that RE2 has accepted.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TypeAlias

# More words than this gain nothing over RE2, and longer ones are not worth the memory.
_MOST_WORDS = 64
_LONGEST_WORD = 1_000
_MOST_IN_CLASS = 16
_DEEPEST = 50
_MOST_STEPS = 2_000

_REPEAT = re.compile(r"\{([0-9]{1,4})(,([0-9]{0,4}))?\}", re.ASCII)
_GROUP = re.compile(r"\((?:\?(?::|P?<[A-Za-z_][A-Za-z0-9_]*>))?", re.ASCII)
_FLAGS = re.compile(r"\(\?([is]{1,2})\)")
_CHARS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_CLASSES = {"d": "0123456789", "s": "\t\n\f\r "}
# Escapes for more than a few characters, or for none.
_OPAQUE_ESCAPES = frozenset("wDWSbB")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~ ")


class RegexToken(Enum):
    """What a word may contain besides literal text."""

    START = "the text begins here"
    END = "the text ends here"
    LINE = "any characters but new lines, or none"
    TEXT = "any characters, or none"
    MAYBE = "something unknown, or nothing"
    OPAQUE = "something unknown"


Word: TypeAlias = tuple["str | RegexToken", ...]
# All words of a language, each once.
Words: TypeAlias = tuple[Word, ...]

_EMPTY: Words = ((),)
_UNKNOWN: Words = ((RegexToken.OPAQUE,),)


class _Unread(Exception):
    """The source contains syntax that is not expanded here."""


def words_of(source: str) -> tuple[Words, bool] | None:
    """Return the words and whether letter case is ignored; the words are then in lower case."""
    flags = _FLAGS.match(source)
    folds = flags is not None and "i" in flags[1]
    reader = _PatternReader(source, folds=folds, crosses=flags is not None and "s" in flags[1])
    reader.position = flags.end() if flags else 0
    try:
        words = reader.choice(0)
    except (_Unread, IndexError):
        return None
    return (words, folds) if reader.position == len(source) else None


class _PatternReader:
    def __init__(self, source: str, *, folds: bool, crosses: bool) -> None:
        self.source = source
        self.position = 0
        self._folds = folds
        self._gap = RegexToken.TEXT if crosses else RegexToken.LINE
        self._steps = 0

    def choice(self, depth: int) -> Words:
        """Parse alternatives up to the end or a closing bracket."""
        if depth > _DEEPEST:
            raise _Unread
        found = self._sequence(depth)
        while self._next("|"):
            found = _either(found, self._sequence(depth))
        return found

    def _sequence(self, depth: int) -> Words:
        found = _EMPTY
        while self.position < len(self.source) and self.source[self.position] not in "|)":
            found = self._join(found, self._repeated(depth))
        return found

    def _repeated(self, depth: int) -> Words:
        is_dot = self.source[self.position] == "."
        item = self._atom(depth)
        least, most = self._times()
        if (least, most) == (1, 1):
            return item
        self._next("?")
        if most is None and is_dot:
            many: Words = ((self._gap,),)
            return many if least == 0 else _joined(_UNKNOWN, many)
        found = _EMPTY
        for _ in range(least):
            found = self._join(found, item)
        if most is None:
            return self._join(found, ((RegexToken.MAYBE,),))
        ending = _EMPTY
        for _ in range(most - least):
            ending = _either(_EMPTY, self._join(item, ending))
        return self._join(found, ending)

    def _join(self, left: Words, right: Words) -> Words:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _Unread
        return _joined(left, right)

    def _times(self) -> tuple[int, int | None]:
        if self._next("?"):
            return 0, 1
        if self._next("*"):
            return 0, None
        if self._next("+"):
            return 1, None
        found = _REPEAT.match(self.source, self.position)
        if found is None:
            return 1, 1
        self.position = found.end()
        if found[2] is None:
            return int(found[1]), int(found[1])
        return int(found[1]), int(found[3]) if found[3] else None

    def _atom(self, depth: int) -> Words:
        char = self.source[self.position]
        if char == "(":
            return self._group(depth)
        self.position += 1
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        if char == "^":
            return ((RegexToken.START,),)
        if char == "$":
            return ((RegexToken.END,),)
        if char == ".":
            return _UNKNOWN
        if char in "*+?{}]":
            raise _Unread
        return self._one_of(char)

    def _group(self, depth: int) -> Words:
        opening = _GROUP.match(self.source, self.position)
        assert opening is not None
        self.position = opening.end()
        found = self.choice(depth + 1)
        if not self._next(")"):
            raise _Unread
        return found

    def _escape(self) -> Words:
        char = self.source[self.position]
        self.position += 1
        if char == "A":
            return ((RegexToken.START,),)
        if char == "z":
            return ((RegexToken.END,),)
        if char in _OPAQUE_ESCAPES:
            return _UNKNOWN
        if char in _CLASSES:
            return self._one_of(_CLASSES[char])
        return self._one_of(_escaped(char))

    def _class(self) -> Words:
        """Parse a class after its opening bracket."""
        negated = self._next("^")
        chars: list[str] = []
        first = True
        while first or self.source[self.position] != "]":
            first = False
            low = self._class_char()
            high = low
            if self.source[self.position] == "-" and self.source[self.position + 1] != "]":
                self.position += 1
                high = self._class_char()
            if len(low) > 1 or ord(high) - ord(low) > _MOST_IN_CLASS:
                negated = True
            else:
                chars += map(chr, range(ord(low), ord(high) + 1))
        self.position += 1
        return _UNKNOWN if negated or len(chars) > _MOST_IN_CLASS else self._one_of("".join(chars))

    def _class_char(self) -> str:
        """Return the next character; several that stand for "many" where an escape means many."""
        char = self.source[self.position]
        if char == "[" and self.source[self.position + 1] == ":":
            raise _Unread
        self.position += 1
        if char != "\\":
            return char
        char = self.source[self.position]
        self.position += 1
        if char in "dswDSW":
            # A range cannot begin or end with one of these.
            if self.source[self.position] == "-":
                raise _Unread
            return _CLASSES["d"]
        return _escaped(char)

    def _one_of(self, chars: str) -> Words:
        if self._folds:
            # Some characters beyond ASCII are case variants of ASCII letters.
            if not chars.isascii():
                raise _Unread
            chars = chars.lower()
        return tuple((char,) for char in dict.fromkeys(chars))

    def _next(self, char: str) -> bool:
        found = self.source.startswith(char, self.position)
        self.position += found
        return found


def _escaped(char: str) -> str:
    if char in _PUNCTUATION:
        return char
    if char not in _CHARS:
        raise _Unread
    return _CHARS[char]


def _either(left: Words, right: Words) -> Words:
    found = tuple(dict.fromkeys((*left, *right)))
    return found if len(found) <= _MOST_WORDS else _UNKNOWN


def _joined(left: Words, right: Words) -> Words:
    """Return each word of `left` before each word of `right`; unknown if there are too many."""
    if len(left) * len(right) > _MOST_WORDS:
        if _certain(left) < _certain(right):
            left = _UNKNOWN
        else:
            right = _UNKNOWN
    found = dict.fromkeys(_row(first, second) for first in left for second in right)
    return tuple(found)


def _row(first: Word, second: Word) -> Word:
    """Return one word after the other; literals on both sides of the join are merged."""
    if not first or not second:
        return first or second
    last, head = first[-1], second[0]
    if not isinstance(last, str) or not isinstance(head, str):
        return _bounded((*first, *second))
    return _bounded((*first[:-1], last + head, *second[1:]))


def _bounded(word: Word) -> Word:
    size = sum(len(token) if isinstance(token, str) else 1 for token in word)
    return word if size <= _LONGEST_WORD else (RegexToken.OPAQUE,)


def _certain(words: Words) -> int:
    """Return the minimum over all words of the length of the longest literal."""
    return min(len(longest_literal(word)) for word in words)


def longest_literal(word: Word) -> str:
    """Return the longest string that is in every match of a word."""
    return max((token for token in word if isinstance(token, str)), key=len, default="")
