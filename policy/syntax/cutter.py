"""The text of a file -> the places of its statements and its comments, whatever the text holds.

A statement starts in column one and goes on over indented lines. Comments and blank lines stand
anywhere, strings and regular expressions end on their line. So a file can be cut before anything
is understood, and one mistake never hides another.
"""

from __future__ import annotations

import re

from policy.records import dataclass
from policy.source import Source
from policy.syntax.tree import Comment

BYTE_ORDER_MARK = "\ufeff"

# Brackets and operators may stand in each other this deep. What walks a tree may recurse.
MAX_DEPTH = 64

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
_REGEX = re.compile(r"/[^/\\\n]*(?:\\.[^/\\\n]*)*/?")

# What has no place in a policy: it would not be seen, or would show text in another order than it
# is read. U+2028 and U+2029 end a line in some editors and not here.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
    r"|\r(?!\n)"
    r"|(?<!\A)\ufeff"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One statement's place; `too_deep` is where its brackets nest beyond the bound, or None."""

    start: int
    end: int
    too_deep: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """A file in pieces.

    `code` is the text with every comment blanked out, so that offsets stay. `stray` is the range
    of indented lines before the first statement, or None.
    """

    code: str
    pieces: tuple[Piece, ...]
    comments: tuple[Comment, ...]
    stray: tuple[int, int] | None


def cut(source: Source) -> Cuts:
    """Cut a file into its statements."""
    text = source.text
    begin = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    starts: list[int] = []
    if text[begin : begin + 1] not in ("", " ", "\t", "\r", "\n", "#"):
        starts.append(begin)
    deep: dict[int, int] = {}
    comments: list[tuple[int, int]] = []
    depth = 0
    regex_from = -1  # where a regular expression may begin: after `matches` and blanks
    position = begin
    while piece := _PIECE.search(text, position):
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
                regex = _REGEX.match(text, piece.start())
                if regex and _is_blank(text, regex_from, piece.start()):
                    position = regex.end()
                regex_from = -1
            case "start":
                starts.append(position)
                depth = 0
                regex_from = -1
            case _:
                pass  # a string is stepped over whole
    code = _without(text, comments)
    return Cuts(
        code=code,
        pieces=_pieces(code, starts, deep=deep),
        comments=tuple(_comment(source, start, end) for start, end in comments),
        stray=_blank_trimmed(code, begin, starts[0] if starts else len(code)),
    )


def unseen(text: str) -> list[int]:
    """Return the offsets of the characters that have no place in a policy."""
    return [found.start() for found in _UNSEEN.finditer(text)]


def _is_blank(text: str, start: int, end: int) -> bool:
    return start >= 0 and not text[start:end].strip(" \t\r\n")


def _without(text: str, comments: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    position = 0
    for start, end in comments:
        parts += (text[position:start], " " * (end - start))
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _pieces(code: str, starts: list[int], *, deep: dict[int, int]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for number, start in enumerate(starts, 1):
        limit = starts[number] if number < len(starts) else len(code)
        trimmed = _blank_trimmed(code, start, limit) or (start, limit)
        pieces.append(Piece(start=start, end=trimmed[1], too_deep=deep.get(number)))
    return tuple(pieces)


def _blank_trimmed(code: str, start: int, end: int) -> tuple[int, int] | None:
    part = code[start:end]
    kept = part.strip(" \t\r\n")
    if not kept:
        return None
    first = start + len(part) - len(part.lstrip(" \t\r\n"))
    return first, first + len(kept)


def _comment(source: Source, start: int, end: int) -> Comment:
    text = source.text[start:end].rstrip("\r \t")
    line_start = start - source.place(start)[1] + 1
    before = source.text[line_start:start].strip(" \t\r\n" + BYTE_ORDER_MARK)
    return Comment(text=text, own_line=not before, span=source.span(start, start + len(text)))
