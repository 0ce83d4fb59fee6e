"""Where a value begins and ends in free text: white space, quotes, brackets, end punctuation."""

from __future__ import annotations

import re

from policy.values.text import normalise

# `.` and its like end a value only before white space or another bound: a name such as
# `corp.example.evil.example` does not hold `corp.example`.
_PUNCTUATION = ".,;:!?…。，；：！？、؟،؛"
_QUOTES = "\"'`“”„‟‘’‚‛«»‹›「」『』"
_BRACKETS = "()[]{}<>（）［］｛｝【】《》〈〉〔〕¿¡"
_APOSTROPHES = "'’"

# An apostrophe between two digits groups the digits of one number.
_BOUND = (
    rf"(?:[\s{re.escape(''.join(set(_QUOTES + _BRACKETS) - set(_APOSTROPHES)))}]"
    rf"|(?<![0-9])[{_APOSTROPHES}]|[{_APOSTROPHES}](?![0-9]))"
)
_BOUNDS = re.compile(f"{_BOUND}+")
_IS_BOUND = re.compile(_BOUND)
_GOES_ON_BOUNDED = re.compile(rf"[{re.escape(_PUNCTUATION)}]*(?:\Z|{_BOUND})")
_WHITE_SPACE = re.compile(r"\s+")


def fold(text: str) -> str:
    """Return `text` in NFC, without letter case, with single blanks for white space."""
    if text.isascii():
        return " ".join(text.lower().split())
    return _WHITE_SPACE.sub(" ", normalise(normalise(text).casefold())).strip()


def atoms_of(text: str) -> list[str]:
    """Return the parts of a text between white space, quotes and brackets, end marks included."""
    return [atom for atom in _BOUNDS.split(text) if atom]


def without_end_marks(atom: str) -> str:
    """Return a part of a text without the punctuation of a sentence at its end."""
    return atom.rstrip(_PUNCTUATION)


def words_of(text: str) -> list[str]:
    """Return the words of a text, without the bounds and end punctuation around them."""
    return [word for atom in atoms_of(text) if (word := without_end_marks(atom))]


def is_bounded(text: str, start: int, end: int) -> bool:
    """Return whether the part of `text` from `start` to `end` is bounded on both sides."""
    if start and _IS_BOUND.match(text, start - 1) is None:
        return False
    return _GOES_ON_BOUNDED.match(text, end) is not None
