"""The reserved words of the shell, and the interface between list and compound-command parsers."""

from __future__ import annotations

import re
from typing import Protocol

from policy.shell.cursor import Cursor
from policy.shell.expansions import ExpansionReader
from policy.shell.shell_state import Findings, ShellState
from policy.shell.tree import Command, CommandList
from policy.shell.word_reader import WordReader

_RESERVED = re.compile(r"(?:[a-z]+|[{}!]|\[\[|\]\])(?=[\s;&|()<>]|\Z)")
COMPOUND = frozenset({"{", "if", "while", "until", "for", "case", "select", "[["})
CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}", "]]"})
# All that mean something where a command begins.
BEGINNING = COMPOUND | CLOSING | {"!", "time", "function", "coproc"}


class ListReader(Protocol):
    """Parses the lists of commands that a compound command is made of."""

    cursor: Cursor
    shell: ShellState
    findings: Findings
    expansions: ExpansionReader
    words: WordReader
    inside: tuple[str, ...]

    def read_list(self) -> CommandList:
        """Parse commands up to the end, a `)` or a word that closes a compound command."""

    def close(self, word: str) -> None:
        """Take the reserved word that is required here."""

    def new_lines(self) -> None:
        """Skip blanks, comments and new lines."""

    def command(self) -> tuple[Command, bool]:
        """Parse one command; the second result: whether it is a simple one."""


def reserved_word(cursor: Cursor) -> str:
    """Return the text here if it may be a reserved word; empty otherwise."""
    word = _RESERVED.match(cursor.text, cursor.position)
    return "" if word is None else word[0]
