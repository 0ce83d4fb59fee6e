"""What an MCP server declares of itself and its tools, as received, before anything interprets it.

The values are JSON, unknown keys included: whatever a server sends can reach a model, so all of it
is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from policy.audit import exact_digest_of
from policy.catalog import Origin, identifier_problem
from policy.model import EMPTY, freeze
from policy.values import JsonLimits, Unreadable, copy_value, quote

# One definition as its server sent it, frozen.
Definition: TypeAlias = Mapping[str, Any]

LONGEST_NAME = 256
MOST_DEFINITIONS = 10_000
# All definitions of a server together: the lock file is read with the policy, which limits a file.
LARGEST_SERVER = 2_000_000
DEEPEST = 64
_LIMITS = JsonLimits(depth=DEEPEST, bytes=LARGEST_SERVER)


class UnusableDefinitions(Exception):
    """A server none of whose tools can be pinned; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProgram:
    """The program of a server on standard input and output.

    `command` begins with the file that runs, links resolved. `package` is the package that it is
    part of, with its version: `mcp-server-git 2026.10.19`; empty if that is not known.
    """

    command: tuple[str, ...]
    package: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What belongs to a server as a whole: its instructions to models, and the program that runs.

    `program` is None for a server that is reached over HTTP.
    """

    instructions: str = ""
    program: ServerProgram | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        program = self.program
        return {
            "instructions": self.instructions,
            "program": None
            if program is None
            else {"command": list(program.command), "package": program.package},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDefinitions:
    """The definitions of one server, by name; `problems` are those that were left out, and why."""

    server: str
    about: About = field(default_factory=About)
    tools: Mapping[str, Definition] = field(default_factory=lambda: EMPTY)
    prompts: Mapping[str, Definition] = field(default_factory=lambda: EMPTY)
    problems: tuple[str, ...] = ()


def definitions_of(
    server: str,
    *,
    tools: Iterable[Any],
    prompts: Iterable[Any] = (),
    instructions: Any = None,
    program: ServerProgram | None = None,
) -> ServerDefinitions:
    """Read the definitions that a server sent, as JSON values; raises UnusableDefinitions.

    A tool or prompt that cannot be pinned is left out, and so are all of the same name: which one a
    call would reach is not known.
    """
    why = identifier_problem(Origin(kind="mcp", server=server))
    if why is not None:
        raise UnusableDefinitions(f"a server cannot be called so: {why}")
    if not isinstance(instructions, str | None):
        raise UnusableDefinitions("its `instructions` are not a string")
    room = _Room()
    room.take(len(instructions or ""))
    problems: list[str] = []
    return ServerDefinitions(
        server=server,
        about=About(instructions=_text(instructions or ""), program=program),
        tools=_named("tool", tools, room, problems),
        prompts=_named("prompt", prompts, room, problems),
        problems=tuple(problems),
    )


def definition_digest(about: About, definition: Definition) -> str:
    """Return the digest of a tool's definition, and of what its server declares of itself.

    New instructions, or another program, make every tool of the server another one.
    """
    return digest({"about": about.as_json(), "definition": definition})


def digest(value: Any) -> str:
    """Return the digest of a JSON value, in which `1`, `1.0`, `"1"` and `true` differ."""
    found = exact_digest_of(value)
    assert found is not None, "definitions and locks are JSON"
    return found


class _Room:
    """The bytes and definitions that a server may still have."""

    def __init__(self) -> None:
        self._bytes, self._entries = LARGEST_SERVER, MOST_DEFINITIONS

    def take(self, size: int) -> None:
        self._bytes -= size
        if self._bytes < 0:
            raise UnusableDefinitions(
                f"its definitions have more than {LARGEST_SERVER:,} bytes together"
            )

    def count(self) -> None:
        self._entries -= 1
        if self._entries < 0:
            raise UnusableDefinitions(f"it has more than {MOST_DEFINITIONS:,} definitions")


def _named(
    what: str, entries: Iterable[Any], room: _Room, problems: list[str]
) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    twice: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        room.count()
        why = _problem(entry)
        if why is not None:
            problems.append(f"{what} {number}: {why}")
            continue
        copied = copy_value(entry, limits=_LIMITS)
        if isinstance(copied, Unreadable):
            problems.append(f"{what} {number}: {quote(entry['name'])} is {copied.reason}")
            continue
        room.take(_size(copied))
        name = copied["name"]
        if name in found:
            twice.add(name)
        found[name] = freeze_definition(copied)
    for name in sorted(twice):
        problems.append(f"{what} {quote(name)} is listed twice")
        del found[name]
    return found


def freeze_definition(value: Mapping[str, Any]) -> Definition:
    """Return a definition that nobody can change."""
    frozen = freeze(value)
    assert isinstance(frozen, Mapping)
    return frozen


def _problem(entry: Any) -> str | None:
    """Return why an entry is no definition with a name."""
    if not isinstance(entry, Mapping):
        return "it is not an object"
    name = entry.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        return f"`name` must be a string of 1 to {LONGEST_NAME} visible characters"
    return None


def _text(text: str) -> str:
    if isinstance(copy_value(text, limits=_LIMITS), Unreadable):
        raise UnusableDefinitions("its `instructions` are not valid Unicode")
    return text


def _size(value: Any) -> int:
    """Return about how many bytes a value takes as JSON."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, Mapping):
        return 2 + sum(len(key) + 4 + _size(item) for key, item in value.items())
    if isinstance(value, list):
        return 2 + sum(1 + _size(item) for item in value)
    return 8
