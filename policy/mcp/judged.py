"""`Judged`: what a call was allowed to call, held against what a session has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from policy.model import Confinement, thaw
from policy.pins import About, Definition, definition_digest, definitions_of

if TYPE_CHECKING:
    from policy.mcp.connection import Connection

# What a session says of its server: its instructions, and its version.
Said: TypeAlias = tuple[str | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The definition that was judged, and whether a person has reviewed it.

    `confinement` is what rules let the call touch, if the server has a sandbox.
    """

    definition: Definition
    reviewed: bool = False
    confinement: Confinement | None = None


def said_in(connection: Connection) -> Said:
    """Return what the server says of itself in this session."""
    return connection.instructions, connection.server_version


async def is_as_judged(
    connection: Connection, server: str, tool: str, judged: Judged, *, listed: Said | None
) -> bool:
    """Return whether a tool is the one that was judged in this session, too; raise McpFailure.

    Each session is asked for its own list: a server need not announce a change. For a tool that was
    reviewed, what the server says of itself must be as it was when it was `listed`.
    """
    tools = await connection.current_tools()
    if connection.agreed.get(tool) is judged.definition:
        return True
    named = [thaw(each.raw) for each in tools if each.name == tool]
    now = definitions_of(server, tools=named).tools.get(tool)
    if now is None or _digest(now) != _digest(judged.definition):
        return False
    if judged.reviewed and said_in(connection) != listed:
        return False
    connection.agreed[tool] = judged.definition
    return True


def _digest(definition: Definition) -> str:
    # What the server says of itself is compared by itself.
    return definition_digest(About(), definition)
