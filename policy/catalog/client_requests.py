"""What an MCP server may ask of the client that calls it, as tools that rules can name.

The server is an argument, so that a rule covers one server or several. Nobody calls them by these
names: a gateway does when a server asks something while one of its tools runs.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from policy.catalog.arguments import Arguments, tool_of
from policy.catalog.markers import Connects
from policy.catalog.tool import ToolSpec

ELICIT = "mcp_elicit"
SAMPLE = "mcp_sample"
LIST_ROOTS = "mcp_list_roots"
CLIENT_REQUESTS = frozenset({ELICIT, SAMPLE, LIST_ROOTS})

Name = Annotated[str, Field(min_length=1, max_length=200)]


class McpElicit(Arguments):
    """Ask the user of an MCP client what a server wants to know."""

    server: Name
    """The server that asks, as the configuration names it."""
    message: str
    """What the server says to the user."""
    form: dict[str, Any] | None = None
    """The JSON Schema of the form that the user is to fill in."""
    url: Annotated[str, Connects(), Field(min_length=1)] | None = None
    """The page that the user is to open instead."""


class McpSample(Arguments):
    """Have the model of an MCP client answer what a server asks."""

    server: Name
    """The server that asks, as the configuration names it."""
    messages: list[dict[str, Any]]
    """The messages for the model, as MCP writes them."""
    max_tokens: int
    """How many tokens the answer may have."""
    system_prompt: str | None = None
    """The system prompt that the server wants."""
    model_preferences: dict[str, Any] | None = None
    """Which model the server would like."""
    temperature: float | None = None
    """The temperature that the server wants."""
    stop_sequences: list[str] | None = None
    """Where the answer ends."""


class McpListRoots(Arguments):
    """Tell a server which folders the user of an MCP client works in."""

    server: Name
    """The server that asks, as the configuration names it."""


def client_requests() -> tuple[ToolSpec, ...]:
    """Return the definitions of all of them.

    What a server does with what it learns from a model, or of folders, is not known.
    """
    return (
        tool_of(McpElicit, category="mcp", read_only=False, complete=True),
        tool_of(McpSample, category="mcp", read_only=False, complete=False),
        tool_of(McpListRoots, category="mcp", read_only=True, complete=False),
    )
