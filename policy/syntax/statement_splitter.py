"""Split a file's text into statements and comments, without parsing it.

A statement starts in column one and continues on indented lines. Comments and blank lines may occur
anywhere; strings and regular expressions end on their line. So a file can be split before it is
parsed, and one error never hides another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from policy.model import Source
from policy.syntax.tree import Comment

BYTE_ORDER_MARK = "\ufeff"

# How deep brackets and operators may nest, so that functions that walk a tree may recurse.
MAX_DEPTH = 64

_BLANK = " \t\r\n"
_WORD_END = r"(?![A-Za-z0-9_-])"
_PIECE = re.compile(
    r"""
    (?P<string> "[^"\\\n]*(?:\\.[^"\\\n]*)*"? )
  | (?P<comment> \#[^\n]* )
  | (?P<open> [(\[{] )
  | (?P<close> [)\]}] )
  | (?P<slash> / )
  | (?P<before_regex> (?<![A-Za-z0-9_.-])(?:matches|matching|contains|with)"""
    + _WORD_END
    + r""" )
  | (?P<start> \n(?=[^\ \t\r\n\#]) )
    """,
    re.VERBOSE,
)
_START = re.compile(r"\n(?=[^ \t\r\n#])")
_REGEX = re.compile(r"/[^/\\\n]*(?:\\.[^/\\\n]*)*/?")

# Not allowed in a policy: characters that are invisible or reorder text on display. U+2028 and
# U+2029 end a line in some editors, but not here.
_UNSEEN = (
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
    r"|\r(?!\n)"
    r"|(?<!\A)\ufeff"
)
# A character class is searched for much faster than an alternation.
_MAYBE_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


class StatementText(NamedTuple):
    """One statement's text, comments blanked out, and its place.

    `too_deep` is the offset at which its brackets nest beyond the limit, or None. A tuple, because
    there are many of them.
    """

    text: str
    start: int
    end: int
    too_deep: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFile:
    """A file split into statements.

    `code` is the text with every comment blanked out, so that offsets stay. `stray` is the range
    of indented lines before the first statement, or None.
    """

    code: str
    pieces: tuple[StatementText, ...]
    comments: tuple[Comment, ...]
    stray: tuple[int, int] | None


@dataclass(slots=True, kw_only=True)
class _Seen:
    """The offsets of statements and comments in a part of the text.

    `deep` maps the number of statements started so far to the first bracket beyond the limit.
    """

    starts: list[int]
    comments: list[tuple[int, int]]
    deep: dict[int, int]


def split_statements(source: Source, *, quick: bool = True) -> SplitFile:
    """Split a file into its statements; without `quick` every character is scanned."""
    text = source.text
    begin = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    first = [] if text[begin : begin + 1] in ("", " ", "\t", "\r", "\n", "#") else [begin]
    seen = _glance(text, begin, first) if quick else _scan(text, begin, len(text), starts=first)
    code = _without(text, seen.comments)
    return SplitFile(
        code=code,
        pieces=_pieces(code, seen.starts, deep=seen.deep),
        comments=tuple(_comment(source, start, end) for start, end in seen.comments),
        stray=_blank_trimmed(code, begin, seen.starts[0] if seen.starts else len(code)),
    )


def _glance(text: str, begin: int, first: list[int]) -> _Seen:
    """Scan only the statements that may hold a comment or nest too deep.

    No string, regular expression or comment continues on the next line, so statements start where
    lines do, and each can be scanned independently.
    """
    starts = first + [found.end() for found in _START.finditer(text, begin)]
    seen = _Seen(starts=starts, comments=[], deep={})
    for number, (start, end) in enumerate(pairwise([begin, *starts, len(text)])):
        if text.find("#", start, end) >= 0 or (
            end - start > MAX_DEPTH
            and sum(text.count(one, start, end) for one in "([{") > MAX_DEPTH
        ):
            part = _scan(text, start, end, starts=[])
            seen.comments += part.comments
            if part.deep:
                seen.deep[number] = part.deep[0]
    return seen


def _scan(text: str, start: int, end: int, *, starts: list[int]) -> _Seen:
    """Scan the text between two offsets; `starts` are the known starts of statements."""
    deep: dict[int, int] = {}
    comments: list[tuple[int, int]] = []
    depth = 0
    regex_from = -1  # where a regular expression may begin: after `matches` and blanks
    position = start
    while piece := _PIECE.search(text, position, end):
        position = piece.end()
        match piece.lastgroup:
            case "comment":
                comments.append(piece.span())
                blank = _is_blank(text, regex_from, piece.start())
                regex_from = position if blank else -1
            case "open":
                depth += 1
                if depth > MAX_DEPTH:
                    deep.setdefault(len(starts), piece.start())
            case "close":
                depth = max(depth - 1, 0)
            case "before_regex":
                regex_from = position
            case "slash":
                regex = _REGEX.match(text, piece.start(), end)
                if regex and _is_blank(text, regex_from, piece.start()):
                    position = regex.end()
                regex_from = -1
            case "start":
                starts.append(position)
                depth = 0
                regex_from = -1
            case _:
                pass  # a string is skipped as a whole
    return _Seen(starts=starts, comments=comments, deep=deep)


def without_comments(source: Source, start: int, end: int) -> str:
    """Return the text of one statement, with its comments blanked out."""
    text = source.text[start:end]
    return _without(text, _scan(text, 0, len(text), starts=[]).comments) if "#" in text else text


def invisible_characters(text: str) -> list[int]:
    """Return the offsets of the characters that are not allowed in a policy."""
    # Usual text needs no regular expression, which would have to be compiled.
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return []
    if _MAYBE_UNSEEN.search(text) is None:
        return []
    return [found.start() for found in re.finditer(_UNSEEN, text)]


def _is_blank(text: str, start: int, end: int) -> bool:
    return start >= 0 and not text[start:end].strip(_BLANK)


def _without(text: str, comments: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    position = 0
    for start, end in comments:
        parts += (text[position:start], " " * (end - start))
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _pieces(code: str, starts: list[int], *, deep: dict[int, int]) -> tuple[StatementText, ...]:
    pieces: list[StatementText] = []
    for number, (start, limit) in enumerate(pairwise([*starts, len(code)]), 1):
        # A statement starts with a visible character.
        text = code[start:limit].rstrip(_BLANK)
        pieces.append(_piece(StatementText, (text, start, start + len(text), deep.get(number))))
    return tuple(pieces)


# As `StatementText(…)`, without a call of a function in Python.
_piece: Any = tuple.__new__


def _blank_trimmed(code: str, start: int, end: int) -> tuple[int, int] | None:
    part = code[start:end]
    kept = part.strip(_BLANK)
    if not kept:
        return None
    first = start + len(part) - len(part.lstrip(_BLANK))
    return first, first + len(kept)


def _comment(source: Source, start: int, end: int) -> Comment:
    text = source.text[start:end].rstrip("\r \t")
    line_start = source.text.rfind("\n", 0, start) + 1
    before = source.text[line_start:start].strip(_BLANK + BYTE_ORDER_MARK)
    return Comment(text=text, own_line=not before, span=source.span(start, start + len(text)))
