"""Patterns of Go packages: the folder that each searches.

In a pattern `...` stands for any text, also with slashes: `./cmd/...` searches `./cmd`, and
`./c...` searches `.` (`go help packages`).
"""

from __future__ import annotations

from dataclasses import replace

from policy.shell import Word


def package_folder(word: Word) -> Word:
    """Return the folder that a pattern of packages searches; any other word as it is."""
    before, dots, _ = word.text.partition("...")
    if not dots or not word.known:
        return word
    folder, slash, _ = before.rpartition("/")
    return replace(word, text=folder or slash or ".")
