"""Maps an agent's tools to ours by a table; each row reads the input of one tool.

A row returns the calls of our tools that one call of the agent is judged as. All of them must be
allowed. A call with an unknown field is denied, like a call of an unknown tool.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from policy.model import EMPTY

_PAGE = "docs/hooks.md"


class Unmapped(Exception):
    """A call that no row of the table covers; `message` is one sentence for the model."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class OurCall:
    """One call of our own tool."""

    tool: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """What one call of an agent is judged as, in this working directory.

    `row` is None where the agent's own call is judged as it is: a tool of an MCP server, or one
    that the policy's catalogue lists.
    """

    calls: tuple[OurCall, ...]
    cwd: str
    row: Row | None = None


class HookFields:
    """The input of one call of an agent; it records which fields have been read."""

    def __init__(self, tool: str, given: Mapping[str, Any], cwd: str) -> None:
        self.tool = tool
        self.cwd = cwd
        self._given = given
        self._read: set[str] = set()

    def get(self, name: str) -> Any:
        """Return a field as it came, None where it is absent."""
        self._read.add(name)
        return self._given.get(name)

    def text(self, *names: str) -> str:
        """Return the string in the first of some fields that there is; one must be there."""
        found = self.optional(*names)
        if found is None:
            raise Unmapped(f"{self.tool} has no `{names[0]}`, so it cannot be judged")
        return found

    def optional(self, *names: str) -> str | None:
        """Return the string in the only one of some fields that there is, None without any."""
        found = [value for name in names if (value := self.get(name)) is not None]
        if len(found) > 1:
            raise Unmapped(f"{self.tool} has {' and '.join(f'`{n}`' for n in names)}: name one")
        if found and not isinstance(found[0], str):
            raise Unmapped(f"`{names[0]}` of {self.tool} is not a string")
        return found[0] if found else None

    def path(self, *names: str) -> str:
        """Return the absolute path in one of some fields; a relative one is taken from `cwd`."""
        return self.absolute(self.text(*names))

    def folder(self, *names: str) -> str:
        """Return the absolute path of a folder, the working directory where none is named."""
        found = self.optional(*names)
        return self.cwd if not found else self.absolute(found)

    def absolute(self, path: str) -> str:
        """Return a path as an absolute one.

        An agent may expand `~` or strip blanks where we would not, so neither is guessed.
        """
        if path.startswith("~") or path != path.strip() or not path:
            raise Unmapped(f"{self.tool} needs a path without `~` and blanks around it")
        return os.path.join(self.cwd, path)

    def unread(self, ignored: frozenset[str]) -> list[str]:
        """Return the fields that were not read and are not known to be without effect."""
        return sorted(set(self._given) - self._read - ignored)


Reader: TypeAlias = Callable[[HookFields], tuple[OurCall, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one tool of an agent is judged.

    `page` says it in `docs/hooks.md`. `ignored` are fields without effect on files, programs and
    hosts. `back` says which field of the agent's a changed field of ours goes back to, and by what
    its number is multiplied. `folder` names the fields that set the working directory of a command.
    """

    page: str
    calls: Reader
    ignored: frozenset[str] = frozenset()
    back: Mapping[str, tuple[str, int]] = field(default_factory=lambda: EMPTY)
    folder: tuple[str, ...] = ()


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def mapped(rows: Mapping[str, Row], tool: str, given: Mapping[str, Any], *, cwd: str) -> Mapped:
    """Return the calls that a call of an agent's tool is judged as; raise Unmapped if unknown."""
    row = rows.get(tool)
    if row is None:
        raise Unmapped(
            f"the tool `{tool}` is not mapped, so it is denied: {_PAGE} lists the mapped tools"
        )
    fields = HookFields(tool, given, cwd)
    folder = os.path.normpath(fields.folder(*row.folder)) if row.folder else cwd
    calls = row.calls(fields)
    unread = fields.unread(row.ignored)
    if unread:
        raise Unmapped(
            f"`{unread[0]}` is not known as a field of {tool}: {_PAGE} lists those that are"
        )
    return Mapped(calls=calls, cwd=folder, row=row)
