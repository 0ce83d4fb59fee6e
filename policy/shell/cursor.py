"""The parser's position in the text of a script."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from policy.shell.shell_state import Findings
from policy.shell.tree import CommandList, Redirecting

_BLANKS = re.compile(r"(?:[ \t]+|\\\n)*")


@dataclass(slots=True)
class Cursor:
    """The text of a script and the current position in it."""

    text: str
    findings: Findings
    position: int = 0
    # Here-documents whose text begins after this line.
    pending: list[PendingText] = field(default_factory=list)
    # Ends of the substitutions that print numbers, by their start.
    numbers: dict[int, int] = field(default_factory=dict)

    def spelled(self, start: int, end: int) -> str:
        """Return the text of a range, with a number for each substitution that prints one."""
        pieces: list[str] = []
        for begun, ended in self.numbers.items():
            if start <= begun and ended <= end:
                pieces += (self.text[start:begun], "0")
                start = ended
        return "".join((*pieces, self.text[start:end]))

    def skip_blanks(self) -> None:
        """Skip blanks and line continuations."""
        match = _BLANKS.match(self.text, self.position)
        if match is not None:
            self.position = match.end()

    def looking_at(self, text: str) -> bool:
        """Return whether `text` follows."""
        return self.text.startswith(text, self.position)

    def peek(self, ahead: int = 0) -> str:
        """Return the next character, or one further on; empty at the end."""
        position = self.position + ahead
        return self.text[position : position + 1]


@dataclass(slots=True)
class PendingText:
    """A here-document whose operator has been parsed, and whose text has not."""

    end: str
    quoted: bool
    strip_tabs: bool
    node: Redirecting
    commands: list[int] = field(default_factory=list)
    standard_input: bool = True


# Parses the commands of a substitution: those up to the closing `)`, or all of a text.
ReadInside: TypeAlias = Callable[[Cursor, str], CommandList]
