"""Words for all files whose names begin or end in a certain way."""

from __future__ import annotations

from dataclasses import replace

from policy.shell import Word
from policy.values import escape_glob


def names_beginning_with(prefix: Word) -> Word:
    """Return a word for the files whose names begin with a prefix."""
    if prefix.known:
        return replace(prefix, text=escape_glob(prefix.text) + "*", shape="glob", many=True)
    return replace(prefix, text=prefix.text + "*") if prefix.shape == "glob" else prefix


def names_ending_with(word: Word, suffix: str) -> Word:
    """Return a word for a file's name with a suffix; a `*` in it stands for anything.

    sed replaces the `*` by the file's name: the result is another file in the same folder.
    """
    if word.shape == "opaque":
        return word
    if "*" in suffix:
        folder, slash, _ = word.text.rpartition("/")
        begun = escape_glob(folder + slash) if word.known else folder + slash
        wild = "*".join(map(escape_glob, suffix.split("*")))
        return replace(word, text=begun + wild, shape="glob", many=True)
    end = suffix if word.known else escape_glob(suffix)
    return replace(word, text=word.text + end)
