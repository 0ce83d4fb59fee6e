"""Replaces wildcards in words by placeholders, and back.

A pattern is analysed as a command in which each wildcard is replaced by a character that no command
contains: so a `*` is one word, which can be an option's value, a subcommand or a whole script.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from policy.shell import Assignment, Redirection, SimpleCommand, Word
from policy.values import escape_glob

_RUN, _ONE = "\ufdd0", "\ufdd1"
_LETTERS = {"*": _RUN, "?": _ONE}
_DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})
_SPECIAL = frozenset("\\*?")


def has_placeholder(text: str) -> bool:
    """Return whether a text contains a placeholder."""
    return _RUN in text or _ONE in text


def with_placeholders(command: SimpleCommand) -> SimpleCommand:
    """Return the command with a placeholder for each wildcard.

    Wildcards in the value of a variable are not globs, so the parser has not marked them.
    """
    assignments = tuple(replace(one, value=_marked(one.value)) for one in command.assignments)
    words = command.words
    if words and words[0].text in _DECLARES:
        words = tuple(_marked(word) if "=" in word.text else word for word in words)
    return _each_word(replace(command, words=words, assignments=assignments), _hidden)


def with_wildcards(command: SimpleCommand) -> SimpleCommand:
    """Return the command with its placeholders replaced by wildcards."""
    return _each_word(command, shown)


def shown(word: Word) -> Word:
    """Return a word with its placeholders replaced by wildcards."""
    if not word.known or not has_placeholder(word.text):
        return word
    text = escape_glob(word.text).replace(_RUN, "*").replace(_ONE, "?")
    return replace(word, text=text, shape="glob")


def _marked(word: Word) -> Word:
    if not word.known or not ("*" in word.text or "?" in word.text):
        return word
    return replace(word, text=word.text.replace("\\", "\\\\"), shape="glob")


def _hidden(word: Word) -> Word:
    if word.shape != "glob":
        return word
    pieces: list[str] = []
    escaped = False
    for char in word.text:
        if escaped or char not in _SPECIAL:
            pieces.append(char)
            escaped = False
        elif char == "\\":
            escaped = True
        else:
            pieces.append(_LETTERS[char])
    return replace(word, text="".join(pieces), shape="known", many=False)


def _each_word(command: SimpleCommand, change: Callable[[Word], Word]) -> SimpleCommand:
    return replace(
        command,
        words=tuple(map(change, command.words)),
        assignments=tuple(
            Assignment(one.name, change(one.value), one.appends) for one in command.assignments
        ),
        redirections=tuple(
            Redirection(one.op, change(one.target), one.fd) for one in command.redirections
        ),
    )
