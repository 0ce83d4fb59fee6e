"""Compiles RE2 regular expressions to tests of strings in linear time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

import re2

from policy.values.regex.string_tests import (
    RegexPlan,
    StringRegex,
    TextTest,
    compile_plain,
    plan_regex,
)
from policy.values.text import escape_for_display, is_encodable
from policy.values.unreadable import Unreadable

_LONGEST_SOURCE = 10_000
# Bound on the number of matches times the bytes of the text, where one search may read far beyond
# its match: some seconds in the worst case.
MOST_WORK = 1_000_000_000
_BOUNDED = re.compile(r"[{][0-9]+(,[0-9]+)?[}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex:
    """A compiled expression. For a string that is not valid Unicode it answers None.

    `search_shortcut` and `full_match_shortcut` are the same tests by string methods, where there
    are such; RE2 is used where there are none, and for text beyond ASCII where letter case is
    folded.

    One search is linear in the text; finding all matches takes one search per match, so `spans` and
    `replace_all` also answer None where that could become too much work.
    """

    source: str
    search_shortcut: StringRegex | None = field(default=None, repr=False, compare=False)
    full_match_shortcut: StringRegex | None = field(default=None, repr=False, compare=False)
    _compiled: Any = field(repr=False, compare=False)
    _found: TextTest = field(repr=False, compare=False)
    _whole: TextTest = field(repr=False, compare=False)

    def matches_whole(self, text: str) -> bool | None:
        """Return whether the expression matches all of `text`."""
        return self._whole(text) if text.isascii() or is_encodable(text) else None

    def found_in(self, text: str) -> bool | None:
        """Return whether the expression matches some part of `text`."""
        return self._found(text) if text.isascii() or is_encodable(text) else None

    def spans(self, text: str, *, work: int | None = None) -> tuple[tuple[int, int], ...] | None:
        """Return the character ranges of all matches from the left, without empty ones.

        None beyond `work`: matches times the bytes of the text, if a search may read all of it.
        """
        work = MOST_WORK if work is None else work
        if not is_encodable(text):
            return None
        encoded = text.encode()
        most = len(encoded) + 2 if self._is_bounded() else work // (len(encoded) + 1)
        found = [match.span() for match in islice(self._compiled.finditer(encoded), most)]
        if len(found) == most:
            return None
        places = [(start, end) for start, end in found if start < end]
        return tuple(places) if text.isascii() else _in_characters(encoded, places)

    @property
    def matches_nothing(self) -> bool:
        """Whether it can only match the empty string, as far as RE2 can tell."""
        try:
            _, last = self._compiled.possiblematchrange(1)
        except re2.error:
            return False
        return not last

    def _is_bounded(self) -> bool:
        """Return whether the length of a match, and so of a search, is bounded by the source."""
        return set("*+{").isdisjoint(_BOUNDED.sub("", self.source))

    def replace_all(self, text: str, replacement: str, *, literal: bool = True) -> str | None:
        """Replace every match that is not empty.

        Unless `literal`, a backslash and a digit in the replacement stand for a group.
        """
        if not is_encodable(text):
            return None
        if not literal:
            return str(self._compiled.sub(replacement.encode(), text.encode()).decode())
        pieces: list[str] = []
        last = 0
        places = self.spans(text)
        if places is None:
            return None
        for start, end in places:
            pieces += (text[last:start], replacement)
            last = end
        return "".join((*pieces, text[last:]))


@lru_cache(maxsize=1024)
def compile_regex(source: str) -> Regex | Unreadable:
    """Compile RE2 syntax with RE2's defaults; the reason names what RE2 does not accept."""
    return read_regex(source, plan=plan_regex)


def read_regex(source: str, *, plan: Callable[[str], RegexPlan]) -> Regex | Unreadable:
    """Compile a source; `plan` determines which tests need no RE2."""
    if len(source) > _LONGEST_SOURCE:
        return Unreadable(reason="the expression is too long")
    if not is_encodable(source):
        return Unreadable(reason="the expression is not valid Unicode")
    if _has_byte_class(source):
        return Unreadable(reason="`\\C` matches single bytes, and strings consist of characters")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(source, options)
    except re2.error as error:
        return Unreadable(reason=f"not an RE2 expression: {_what(error)}")
    ways = plan(source)
    return Regex(
        source=source,
        search_shortcut=ways.found,
        full_match_shortcut=ways.whole,
        _compiled=compiled,
        _found=_test(ways, ways.found, compiled.search),
        _whole=_test(ways, ways.whole, compiled.fullmatch),
    )


def compile_without_shortcuts(source: str) -> Regex | Unreadable:
    """Compile a source so that RE2 does all tests, as a reference for the faster ones."""
    return read_regex(source, plan=lambda _: RegexPlan())


def _test(ways: RegexPlan, plain: StringRegex | None, ask: Callable[[bytes], Any]) -> TextTest:
    """Return the cheapest test: string methods, RE2 after a search for a needed part, or RE2."""
    needs, lower = ways.needs, ways.lower

    def by_re2(text: str) -> bool:
        return ask(text.encode()) is not None

    def by_need(text: str) -> bool:
        if lower and not text.isascii():
            return by_re2(text)
        searched = text.lower() if lower else text
        for piece in needs:
            if piece in searched:
                return by_re2(text)
        return False

    if plain is not None:
        quick = compile_plain(plain)
        if not plain.lower:
            return quick
        return lambda text: quick(text) if text.isascii() else by_re2(text)
    return by_need if needs else by_re2


def _has_byte_class(source: str) -> bool:
    place = source.find("\\")
    while place >= 0:
        if source[place + 1 : place + 2] == "C":
            return True
        place = source.find("\\", place + 2)
    return False


def _what(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    return escape_for_display(text, 40)


def _in_characters(encoded: bytes, places: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Convert rising byte offsets into character offsets in one walk."""
    spans: list[tuple[int, int]] = []
    byte = char = 0
    for start, end in places:
        first = char + len(encoded[byte:start].decode())
        last = first + len(encoded[start:end].decode())
        spans.append((first, last))
        byte, char = end, last
    return tuple(spans)
