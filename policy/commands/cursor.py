"""A script being read: its text and the place in it, with what all parts of it share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from policy.commands.refusal import NotReadable
from policy.commands.script import SimpleCommand
from policy.commands.syntax_tree import CommandList, Redirecting
from policy.commands.word import Assignment

if TYPE_CHECKING:
    from policy.commands.shell import Shell

_DEEPEST = 32
# Each word is looked at by every rule that speaks of resources; no command of an agent has more.
_MOST_WORDS = 2_000
# Quotes, expansions and other signs: each costs as much as a word.
_MOST_PARTS = 20_000
# Letters that variables are replaced by: `x=$x$x` doubles a text each time.
_MOST_REPLACED = 1_000_000
_FIXED = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"})
_BLANKS = re.compile(r"(?:[ \t]+|\\\n)*")


@dataclass(slots=True)
class Findings:
    """The commands of a script with what else is found, and what bounds the reading."""

    commands: list[SimpleCommand] = field(default_factory=list)
    gaps: dict[str, None] = field(default_factory=dict)
    # Every variable that programs may see set by the script itself.
    carried: dict[Assignment, None] = field(default_factory=dict)
    # Commands of function bodies, which run whenever they are called.
    bodies: list[int] = field(default_factory=list)
    moved: bool = False
    # Functions by how many definitions there are; whether a body changes the folder.
    defined: dict[str, int] = field(default_factory=dict)
    wandering: bool = False
    # Programs and functions that traps run.
    handlers: set[str] = field(default_factory=set)
    # Programs that print for the next one of a pipeline.
    feeding: set[str] = field(default_factory=set)
    # What may leave a function before its end.
    jumps: int = 0
    # Whether a failure may not end the shell though it was told so, and whether functions may be
    # gone or stand for others.
    forgiving: bool = False
    # Variables that cannot be set (`*`: any), the shells at what may fail so that the rest of the
    # line is dropped, and whether any command may.
    fixed: set[str] = field(default_factory=lambda: set(_FIXED))
    drops: list[Shell] = field(default_factory=list)
    failing: bool = False
    # Programs of which it matters that they print numbers.
    counting: set[str] = field(default_factory=set)
    replaced_functions: bool = False
    # Whether a command stands where the shell may put an alias.
    aliased: bool = False
    words: int = 0
    parts: int = 0
    replaced: int = 0
    depth: int = 0
    # How many times what stands here is read: once for each value of the loops around.
    passes: int = 1
    # How many loops may still be read once more, where a first reading did not hold.
    attempts: int = 32
    # Variables that arithmetic reads, and those that may hold any text.
    computed: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def copy(self) -> Findings:
        """Return what has been found up to here, to come back to it by `become`."""
        other = Findings()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, list | dict | set) else value)
        return other

    def become(self, other: Findings) -> None:
        """Take over what a copy holds that is not used any more, but for the attempts made."""
        attempts = self.attempts
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))
        self.attempts = attempts

    def gap(self, reason: str) -> None:
        """Say what else may run."""
        self.gaps[reason] = None

    def count_word(self) -> None:
        """Count one word more."""
        self.words += 1
        if self.words > _MOST_WORDS:
            raise NotReadable("a script with too many words")

    def count_part(self) -> None:
        """Count one part of a word, or of what stands in it."""
        self.parts += 1
        if self.parts > _MOST_PARTS:
            raise NotReadable("a script with too many quotes and signs")

    def count_replaced(self, value: str) -> None:
        """Count a text that stands for a variable."""
        self.replaced += len(value)
        if self.replaced > _MOST_REPLACED:
            raise NotReadable("a script whose variables grow too long")

    def enter(self) -> None:
        """Go one level deeper."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotReadable("a script that is nested too deeply")

    def leave(self) -> None:
        """Come back from `enter`."""
        self.depth -= 1


@dataclass(slots=True)
class Cursor:
    """The text of a script, and where its reader stands."""

    text: str
    findings: Findings
    place: int = 0
    # Here-documents whose text begins after this line.
    pending: list[PendingText] = field(default_factory=list)
    # Where substitutions stand that print numbers, by their beginning.
    numbers: dict[int, int] = field(default_factory=dict)

    def spelled(self, start: int, end: int) -> str:
        """Return what is spelled here, with a number where a substitution prints one."""
        pieces: list[str] = []
        for begun, ended in self.numbers.items():
            if start <= begun and ended <= end:
                pieces += (self.text[start:begun], "0")
                start = ended
        return "".join((*pieces, self.text[start:end]))

    def skip_blanks(self) -> None:
        """Go to what follows blanks and continued lines."""
        match = _BLANKS.match(self.text, self.place)
        if match is not None:
            self.place = match.end()

    def looking_at(self, text: str) -> bool:
        """Tell whether `text` stands here."""
        return self.text.startswith(text, self.place)

    def peek(self, ahead: int = 0) -> str:
        """Return the character here, or further on; empty at the end."""
        place = self.place + ahead
        return self.text[place : place + 1]


@dataclass(slots=True)
class PendingText:
    """A here-document of which only the beginning has been read."""

    end: str
    quoted: bool
    strip_tabs: bool
    node: Redirecting
    commands: list[int] = field(default_factory=list)
    standard_input: bool = True


# Reads the commands of a substitution: those up to the closing `)`, or all of a text.
ReadInside: TypeAlias = Callable[[Cursor, str], CommandList]
