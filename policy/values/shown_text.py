"""A string as people and conditions read it, with the place of each character in the original.

Conditions compare strings in NFC, and see a difference that invisible characters make. What finds
places in a string, as a redaction does, has to find the same ones.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from policy.values.text import is_ordinary, normal_form, normalise, without_invisible

# No character is composed of more.
_COMPOSED = 8


@dataclass(frozen=True, slots=True)
class ShownText:
    """A string in NFC without invisible characters.

    Its character at `i` is made of the original ones from `starts[i]` up to `ends[i]`.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return where a range of it, which is not empty, is in the original."""
        return self.starts[start], self.ends[end - 1]


def shown_text(text: str) -> ShownText | None:
    """Return a string as it is shown; None if it is spelled so."""
    if is_ordinary(text):
        return None
    pieces = [(char, place, place + 1) for place, char in enumerate(text)]
    while True:
        pieces = list(_composed([one for one in pieces if without_invisible(one[0])]))
        shown = "".join(piece for piece, _, _ in pieces)
        if is_ordinary(shown):
            break
        pieces = [(char, start, end) for piece, start, end in pieces for char in piece]
    spread = [(start, end) for piece, start, end in pieces for _ in piece]
    return ShownText(shown, tuple(one for one, _ in spread), tuple(one for _, one in spread))


def _composed(pieces: list[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Join the characters that NFC composes into others, or puts in another order."""
    together: list[str] = []
    first = last = 0
    for piece, start, end in pieces:
        if together and not piece.isascii() and _belongs_to(piece, together):
            together.append(piece)
            last = end
            continue
        if together:
            yield normalise("".join(together)), first, last
        together, first, last = [piece], start, end
    if together:
        yield normalise("".join(together)), first, last


def _belongs_to(piece: str, together: list[str]) -> bool:
    # Some vowel signs are no marks, and decompose into marks.
    if unicodedata.combining(normal_form(piece, "NFD")[0]):
        return True
    # Only what is right before another letter composes with it.
    before = "".join(together[-_COMPOSED:])
    return normalise(before + piece) != normalise(before) + normalise(piece)
