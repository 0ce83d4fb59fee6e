"""Translates simple RE2 expressions into equivalent tests by `str` methods.

A second way to what RE2 does: without it the goal for a decision fails (decision 0065).
`tests/laws/test_regexes.py` holds the two equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from policy.values.regex.tokens import RegexToken, Word, Words, longest_literal, words_of

# Searching for more alternatives, or for a single character, is no faster than RE2.
_MOST_NEEDS = 8
_SHORTEST_NEED = 2

TextTest: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class StringRegex:
    """A test by string methods: at least one of these conditions holds.

    With `lower` the text's lower case is tested, and only text in ASCII: beyond it some characters
    are case variants of ASCII letters. With `one_line` a text with a new line never matches.
    """

    starts: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    equals: tuple[str, ...] = ()
    lower: bool = False
    one_line: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexPlan:
    """How an expression can be tested without RE2: `found` in a text, and matching it `whole`.

    Where these are None, a text that matches contains one of `needs`; if empty, nothing is known.
    `needs` are in lower case where `lower`, and then say nothing about text beyond ASCII.
    """

    found: StringRegex | None = None
    whole: StringRegex | None = None
    needs: tuple[str, ...] = ()
    lower: bool = False


def plan_regex(source: str) -> RegexPlan:
    """Return how to test a text without RE2; RE2 has accepted the source."""
    read = words_of(source)
    if read is None:
        return RegexPlan()
    words, lower = read
    return RegexPlan(
        found=_plain([(RegexToken.TEXT, *word, RegexToken.TEXT) for word in words], lower=lower),
        whole=_plain([(RegexToken.START, *word, RegexToken.END) for word in words], lower=lower),
        needs=_needs(words),
        lower=lower,
    )


def compile_plain(plain: StringRegex) -> TextTest:
    """Return the test; its text is in ASCII if the expression folds letter case."""
    starts, contains, ends = plain.starts, plain.contains, plain.ends
    equals = frozenset(plain.equals)
    lower, one_line = plain.lower, plain.one_line

    def matches(text: str) -> bool:
        if one_line and "\n" in text:
            return False
        if lower:
            text = text.lower()
        for piece in contains:
            if piece in text:
                return True
        if starts and text.startswith(starts):
            return True
        return text in equals or (bool(ends) and text.endswith(ends))

    if not (lower or one_line or contains or ends):
        if not equals:
            return lambda text: text.startswith(starts)
        if not starts:
            return equals.__contains__
    if len(contains) == 1 and not (lower or one_line or starts or ends or equals):
        only = contains[0]
        return lambda text: only in text
    return matches


def _needs(words: Words) -> tuple[str, ...]:
    """Return strings to search for before RE2 is used; none where most texts would contain them."""
    everywhere = [token for token in words[0] if isinstance(token, str) and _in_all(token, words)]
    if everywhere:
        return (max(everywhere, key=len),)
    needs = tuple(dict.fromkeys(longest_literal(word) for word in words))
    if len(needs) > _MOST_NEEDS or min(map(len, needs)) < _SHORTEST_NEED:
        return ()
    return tuple(n for n in needs if not _holds_another(n, needs))


def _in_all(text: str, words: Words) -> bool:
    return all(any(isinstance(token, str) and text in token for token in word) for word in words)


def _plain(words: list[Word], *, lower: bool) -> StringRegex | None:
    shapes: list[_Shape] = []
    for word in words:
        if RegexToken.OPAQUE in word:
            return None
        core = _core(word)
        if core is None:
            continue
        shape = _shape(core)
        if shape is None:
            return None
        shapes.append(shape)
    one_line = any(shape.one_line for shape in shapes)
    # A whole text of one line is one line as well, so words without gaps change nothing.
    if one_line and any("\n" in s.text or (s.is_open and not s.one_line) for s in shapes):
        return None
    contains = _texts(shapes, left=True, right=True)
    return StringRegex(
        starts=_shortest(_texts(shapes, left=False, right=True), contains, str.startswith),
        contains=tuple(text for text in contains if not _holds_another(text, contains)),
        ends=_shortest(_texts(shapes, left=True, right=False), contains, str.endswith),
        equals=_texts(shapes, left=False, right=False),
        lower=lower,
        one_line=one_line,
    )


def _core(word: Word) -> Word | None:
    """Return the word from its last START to its first END; None if nothing can match it.

    The tokens before START must match the empty string, as all but literal text can.
    """
    first = max((at for at, token in enumerate(word) if token is RegexToken.START), default=0)
    rest = [at for at, token in enumerate(word) if token is RegexToken.END]
    last = min(rest, default=len(word) - 1)
    outside = word[:first] + word[last + 1 :]
    if any(isinstance(token, str) for token in outside):
        return None
    if last < first:
        # The text is empty: the part between END and START is, so all of the word must be.
        between = word[last : first + 1]
        return (
            None if any(isinstance(t, str) for t in between) else (RegexToken.START, RegexToken.END)
        )
    return word[first : last + 1]


@dataclass(frozen=True, slots=True)
class _Shape:
    """One literal text, and whether more may be to its left and right."""

    text: str
    left: bool
    right: bool
    one_line: bool

    @property
    def is_open(self) -> bool:
        return self.left or self.right


def _shape(core: Word) -> _Shape | None:
    """Return the shape of a word after its edges are resolved; None unless it is one text."""
    texts = [at for at, token in enumerate(core) if isinstance(token, str)]
    if texts:
        left, right = core[: texts[0]], core[texts[-1] + 1 :]
        if len(texts) > 1 or any(t in _GAPS for t in core[texts[0] : texts[-1]]):
            return None
        text = str(core[texts[0]])
    else:
        left, right, text = core, core, ""
    sides = (_side(left), _side(right))
    if None in sides:
        return None
    gaps = [side for side in sides if side is not _NO_GAP]
    if RegexToken.LINE in gaps and RegexToken.TEXT in gaps:
        return None
    return _Shape(text, sides[0] in gaps, sides[1] in gaps, RegexToken.LINE in gaps)


_NO_GAP = RegexToken.START
_GAPS = (RegexToken.LINE, RegexToken.TEXT, RegexToken.MAYBE)


def _side(tokens: Word) -> RegexToken | None:
    """Return what may be on one side of the text; None where it is not one token."""
    gaps = {token for token in tokens if token in _GAPS}
    if not gaps:
        return _NO_GAP
    if RegexToken.TEXT in gaps:
        # Any text, followed by something unknown or nothing: any text.
        return RegexToken.TEXT
    return RegexToken.LINE if gaps == {RegexToken.LINE} else None


def _texts(shapes: list[_Shape], *, left: bool, right: bool) -> tuple[str, ...]:
    found = (s.text for s in shapes if s.left == left and s.right == right)
    return tuple(dict.fromkeys(found))


def _holds_another(text: str, texts: tuple[str, ...]) -> bool:
    return any(other != text and other in text for other in texts)


def _shortest(
    texts: tuple[str, ...], contains: tuple[str, ...], matches: Callable[[str, str], bool]
) -> tuple[str, ...]:
    """Remove strings whose matches are also found by another one, or by one of `contains`."""
    return tuple(
        text
        for text in texts
        if not any(other in text for other in contains)
        and not any(other != text and matches(text, other) for other in texts)
    )
