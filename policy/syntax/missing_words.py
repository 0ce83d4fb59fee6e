"""Finds a word that is missing at an error: one with which the statement is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable

# Longer statements are not parsed again and again.
_LONGEST = 2_000


def find_missing(
    text: str, at: int, words: Iterable[str], place_of_error: Callable[[str], int]
) -> tuple[str, ...]:
    """Return those of the words that make the statement valid where they stand at the error.

    `place_of_error` returns how far a statement parses, beyond its end if it is valid.
    """
    if len(text) > _LONGEST or not 0 < at < len(text):
        return ()
    found = []
    for word in words:
        completed = f"{text[:at]} {word} {text[at:]}"
        if place_of_error(completed) > len(completed):
            found.append(word)
    return tuple(found)
