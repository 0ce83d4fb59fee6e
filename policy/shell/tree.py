"""The syntax tree of a script: lists, pipelines, commands, and words by their parts.

A word is a tuple of parts, which distinguish quoted from unquoted characters: for some characters
quoting is all their meaning. The type of quotes, blanks and comments are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Raw:
    """Unquoted characters, `*` and `{` as well as letters."""

    text: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """Literal characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Escaped:
    """A character after a backslash, where that differs from quoting it."""

    char: str


@dataclass(frozen=True, slots=True)
class DoubleQuoted:
    """Text and expansions without word splitting."""

    parts: Parts


@dataclass(frozen=True, slots=True)
class Parameter:
    """`${…}`, its name first; `bare` if it has to be `$x`, before a brace or comma."""

    parts: Parts
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)`, or the contents of backquotes."""

    commands: CommandList


@dataclass(frozen=True, slots=True)
class ProcessSubstitution:
    """`<(…)` or `>(…)`."""

    sign: str
    commands: CommandList


@dataclass(frozen=True, slots=True)
class ArithmeticExpansion:
    """`$((…))`."""

    parts: Parts


Part: TypeAlias = (
    Raw | Quoted | Escaped | DoubleQuoted | Parameter | Substitution | ProcessSubstitution
    | ArithmeticExpansion
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
    """`[[ … ]]`: its words and operators."""

    words: tuple[Parts, ...]


@dataclass(frozen=True, slots=True)
class If:
    """Conditions, each with its branch."""

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
    """`for` and `select`; without values they use the arguments of the script."""

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
    """One pattern list of a `case`, with its terminator."""

    patterns: tuple[Parts, ...]
    body: CommandList
    end: str


@dataclass(frozen=True, slots=True)
class CaseCommand:
    """A word and the arms that it is matched with."""

    word: Parts
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class WithRedirections:
    """A compound command with its redirections."""

    command: Command
    redirections: tuple[Redirecting, ...]


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """The definition of a function."""

    name: str
    body: Command


@dataclass(frozen=True, slots=True)
class Coprocess:
    """`coproc`."""

    name: str | None
    body: Command


Compound: TypeAlias = (
    Subshell | Group | Computation | Condition | If | Loop | For | CountingFor | CaseCommand
)  # fmt: skip
Command: TypeAlias = Simple | Compound | WithRedirections | FunctionDefinition | Coprocess


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands with the operators between them; `time` and `!` precede the first."""

    prefixes: tuple[str, ...]
    commands: tuple[Command, ...]
    operators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Pipelines joined by `&&` or `||`; `background`: followed by `&`.

    `ends_line`: the next command is on another line, which the shell parses later.
    """

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...] = ()
    background: bool = False
    ends_line: bool = False


@dataclass(frozen=True, slots=True)
class CommandList:
    """Chains, one after the other."""

    chains: tuple[Chain, ...]


def pipeline_programs(commands: CommandList) -> frozenset[str]:
    """Return the programs of a list that is one pipeline of plain commands; else an empty set."""
    if len(commands.chains) != 1 or len(commands.chains[0].pipelines) != 1:
        return frozenset()
    chain, pipeline = commands.chains[0], commands.chains[0].pipelines[0]
    if chain.background or pipeline.prefixes or set(pipeline.operators) - {"|"}:
        return frozenset()
    found: set[str] = set()
    for command in pipeline.commands:
        if not isinstance(command, Simple) or command.assignments or not command.words:
            return frozenset()
        match command.words[0]:
            case (Raw(text=name),):
                found.add(name)
            case _:
                return frozenset()
    return frozenset(found)


def merged(parts: Iterable[Part]) -> Parts:
    """Return the parts of a word with adjacent parts of the same type merged."""
    result: list[Part] = []
    for kind, adjacent in groupby(parts, type):
        if kind is Raw or kind is Quoted:
            # Joined at once: a word may consist of a million parts.
            texts = (part.text for part in adjacent if isinstance(part, Raw | Quoted))
            result.append(kind("".join(texts)))
        else:
            result.extend(adjacent)
    return tuple(result)


def in_double_quotes(parts: Iterable[Part]) -> Part:
    """Return these parts in double quotes."""
    inner = merged(parts)
    if all(isinstance(part, Quoted) for part in inner):
        return inner[0] if inner else Quoted("")
    return DoubleQuoted(tuple(part for part in inner if part != Quoted("")))
