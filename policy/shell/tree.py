"""The syntax tree of a script: lists, pipelines, commands, and the parts of words.

A word is a tuple of parts, which keep what is quoted apart from what is not: of some characters
that is all their meaning. Which quotes they were, blanks and comments are gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Raw:
    """Characters without quotes, `*` and `{` as well as letters."""

    text: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """Characters that stand for themselves."""

    text: str


@dataclass(frozen=True, slots=True)
class Escaped:
    """A character behind a backslash, where that is not the same as quotes."""

    char: str


@dataclass(frozen=True, slots=True)
class DoubleQuoted:
    """Text and expansions whose values are not split."""

    parts: Parts


@dataclass(frozen=True, slots=True)
class Parameter:
    """`${…}`, its name first; `bare` if it has to be `$x`, before a brace or comma."""

    parts: Parts
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)`, or what stands between back-ticks."""

    commands: CommandList


@dataclass(frozen=True, slots=True)
class ProcessSubstitution:
    """`<(…)` or `>(…)`."""

    sign: str
    commands: CommandList


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`."""

    parts: Parts


Part: TypeAlias = (
    Raw | Quoted | Escaped | DoubleQuoted | Parameter | Substitution | ProcessSubstitution
    | Arithmetic
)  # fmt: skip
Parts: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Assigning:
    """`name=value`, before a command or as a word of one that declares variables."""

    name: str
    value: Parts | Values
    appends: bool = False
    subscript: Parts | None = None


@dataclass(frozen=True, slots=True)
class Values:
    """The values of an array."""

    words: tuple[Parts, ...]


@dataclass(slots=True)
class Redirecting:
    """One redirection. A here-document is a here-string, and an empty one reads /dev/null.

    (Not frozen: the text of a here-document is read after its command.)
    """

    op: str
    target: Parts = ()
    fd: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, words and redirections."""

    assignments: tuple[Assigning, ...]
    words: tuple[Parts | Assigning, ...]
    redirections: tuple[Redirecting, ...]


@dataclass(frozen=True, slots=True)
class Subshell:
    """`( … )`."""

    body: CommandList


@dataclass(frozen=True, slots=True)
class Group:
    """`{ …; }`."""

    body: CommandList


@dataclass(frozen=True, slots=True)
class Computation:
    """`((…))`."""

    parts: Parts


@dataclass(frozen=True, slots=True)
class Condition:
    """`[[ … ]]`: its words and signs."""

    words: tuple[Parts, ...]


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with what each leads to."""

    branches: tuple[tuple[CommandList, CommandList], ...]
    otherwise: CommandList | None


@dataclass(frozen=True, slots=True)
class Loop:
    """`while` and `until`."""

    kind: str
    condition: CommandList
    body: CommandList


@dataclass(frozen=True, slots=True)
class For:
    """`for` and `select`; without values it takes the arguments of the script."""

    kind: str
    name: str
    values: tuple[Parts, ...] | None
    body: CommandList


@dataclass(frozen=True, slots=True)
class CountingFor:
    """`for ((…; …; …))`."""

    parts: tuple[Parts, ...]
    body: CommandList


@dataclass(frozen=True, slots=True)
class Arm:
    """One choice of a `case`, with what ends it."""

    patterns: tuple[Parts, ...]
    body: CommandList
    end: str


@dataclass(frozen=True, slots=True)
class Case:
    """A word and what it may fit."""

    word: Parts
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class WithRedirections:
    """A compound command with the redirections behind it."""

    command: Command
    redirections: tuple[Redirecting, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """The definition of a function."""

    name: str
    body: Command


@dataclass(frozen=True, slots=True)
class Coprocess:
    """`coproc`."""

    name: str | None
    body: Command


Compound: TypeAlias = (
    Subshell | Group | Computation | Condition | If | Loop | For | CountingFor | Case
)  # fmt: skip
Command: TypeAlias = Simple | Compound | WithRedirections | Function | Coprocess


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands with the operators between them; `time` and `!` go before the first."""

    prefixes: tuple[str, ...]
    commands: tuple[Command, ...]
    operators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Pipelines with `&&` or `||` between them; whether it runs beside what follows.

    `ends_line`: what follows stands on another line, which the shell reads later.
    """

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...] = ()
    background: bool = False
    ends_line: bool = False


@dataclass(frozen=True, slots=True)
class CommandList:
    """Chains, one after the other."""

    chains: tuple[Chain, ...]


def merged(parts: Iterable[Part]) -> Parts:
    """Return the parts of a word with neighbours of one kind in one."""
    result: list[Part] = []
    for part in parts:
        last = result[-1] if result else None
        if isinstance(part, Raw) and isinstance(last, Raw):
            result[-1] = Raw(last.text + part.text)
        elif isinstance(part, Quoted) and isinstance(last, Quoted):
            result[-1] = Quoted(last.text + part.text)
        else:
            result.append(part)
    return tuple(result)


def in_double_quotes(parts: Iterable[Part]) -> Part:
    """Return the part that double quotes make of these."""
    inner = merged(parts)
    if all(isinstance(part, Quoted) for part in inner):
        return inner[0] if inner else Quoted("")
    return DoubleQuoted(tuple(part for part in inner if part != Quoted("")))
