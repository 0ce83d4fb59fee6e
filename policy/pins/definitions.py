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
    """The definitions of one server, by name.

    `left_out` are the tools that no client is shown, by name, each with the reason; `problems` are
    sentences about all that was left out.
    """

    server: str
    about: About = field(default_factory=About)
    tools: Mapping[str, Definition] = field(default_factory=lambda: EMPTY)
    prompts: Mapping[str, Definition] = field(default_factory=lambda: EMPTY)
    left_out: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    problems: tuple[str, ...] = ()


def definitions_of(
    server: str,
    *,
    tools: Iterable[Any],
    prompts: Iterable[Any] = (),
    instructions: Any = None,
    program: ServerProgram | None = None,
    left_out: Mapping[str, str] = EMPTY,
) -> ServerDefinitions:
    """Read the definitions that a server sent, as JSON values; raises UnusableDefinitions.

    A tool or prompt that cannot be pinned is left out, and so are all of the same name: which one a
    call would reach is not known. `left_out` are tools to leave out for other reasons, by name.
    """
    why = identifier_problem(Origin(kind="mcp", server=server))
    if why is not None:
        raise UnusableDefinitions(f"a server cannot be called so: {why}")
    if not isinstance(instructions, str | None):
        raise UnusableDefinitions("its `instructions` are not a string")
    room = _Room(LARGEST_SERVER - len(instructions or ""))
    if room.bytes < 0:
        raise UnusableDefinitions(f"its `instructions` have more than {LARGEST_SERVER:,} bytes")
    read_tools = _read("tool", tools, room, {**left_out})
    read_prompts = _read("prompt", prompts, room, {})
    return ServerDefinitions(
        server=server,
        about=About(instructions=_text(instructions or ""), program=program),
        tools=read_tools.found,
        prompts=read_prompts.found,
        left_out=read_tools.left_out,
        problems=(*_problems("tool", read_tools), *_problems("prompt", read_prompts)),
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

    def __init__(self, bytes: int) -> None:
        self.bytes, self._entries = bytes, MOST_DEFINITIONS

    def take(self, size: int) -> bool:
        """Take the room for a definition, if there is as much."""
        if size > self.bytes or not self._entries:
            return False
        self.bytes -= size
        self._entries -= 1
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The definitions of one kind that were read, and why others were not."""

    found: dict[str, Definition]
    left_out: dict[str, str]
    unnamed: tuple[str, ...]


def _read(what: str, entries: Iterable[Any], room: _Room, left_out: dict[str, str]) -> _Read:
    """Read definitions; where there is no room for all, the largest are left out."""
    copies: dict[str, Any] = {}
    unnamed: list[str] = []
    for number, entry in enumerate(entries, start=1):
        why = _unnamed(entry)
        if why is not None:
            unnamed.append(f"{what} {number}: {why}")
            continue
        name, copied = entry["name"], copy_value(entry, limits=_LIMITS)
        if isinstance(copied, Unreadable):
            left_out[name] = f"it cannot be read: {copied.reason}"
        elif name in copies:
            left_out[name] = "it is listed twice"
        copies[name] = copied
    sizes = {name: _size(copy) for name, copy in copies.items() if name not in left_out}
    for name in sorted(sizes, key=lambda name: (sizes[name], name)):
        if not room.take(sizes[name]):
            left_out[name] = (
                f"the definitions of the server have more than {LARGEST_SERVER:,} bytes, or are "
                f"more than {MOST_DEFINITIONS:,}"
            )
    found = {name: freeze_definition(copy) for name, copy in copies.items() if name not in left_out}
    return _Read(found=found, left_out=left_out, unnamed=tuple(unnamed))


def _problems(what: str, read: _Read) -> tuple[str, ...]:
    named = (f"{what} {quote(name)}: {why}" for name, why in sorted(read.left_out.items()))
    return (*read.unnamed, *named)


def freeze_definition(value: Mapping[str, Any]) -> Definition:
    """Return a definition that nobody can change."""
    frozen = freeze(value)
    assert isinstance(frozen, Mapping)
    return frozen


def entry_problem(entry: Any) -> str | None:
    """Return why an entry of a list cannot be a definition; None if it can."""
    why = _unnamed(entry)
    if why is None:
        copied = copy_value(entry, limits=_LIMITS)
        why = f"it cannot be read: {copied.reason}" if isinstance(copied, Unreadable) else None
    return why


def _unnamed(entry: Any) -> str | None:
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
