"""What an MCP client may ask of a server besides its tools, as tools that rules can name.

The server is an argument, so that a rule covers one server or several. Clients never call them by
these names: a gateway does when a client reads a resource, gets a prompt or asks for completions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from policy.catalog.arguments import Arguments, tool_of
from policy.catalog.tool import Resource, ToolSpec

READ_RESOURCE = "mcp_read_resource"
GET_PROMPT = "mcp_get_prompt"
COMPLETE = "mcp_complete"

Text = Annotated[str, Field(min_length=1, max_length=65_536)]
Values = dict[str, str]


class McpReadResource(Arguments):
    """Read a resource of an MCP server."""

    server: Text
    """The server, as the configuration names it."""
    uri: Text
    """The URI of the resource, as the server names it."""
    subscribe: bool | None = None
    """Whether the client is told of changes from now on, in place of getting the contents."""


class McpGetPrompt(Arguments):
    """Get a prompt of an MCP server."""

    server: Text
    """The server, as the configuration names it."""
    name: Text
    """The prompt, as the server names it."""
    arguments: Values | None = None
    """The values that the server puts into the prompt."""


class McpReference(Arguments):
    """A prompt, by its name, or a template of resources, by its URI."""

    type: Literal["ref/prompt", "ref/resource"]
    """Which of the two it is."""
    name: Text | None = None
    """The prompt, as the server names it."""
    uri: Text | None = None
    """The template, as the server names it."""


class McpArgument(Arguments):
    """The argument whose value is being entered."""

    name: Text
    """Its name."""
    value: str
    """What was entered so far."""


class McpComplete(Arguments):
    """Ask an MCP server for the values that an argument may have."""

    server: Text
    """The server, as the configuration names it."""
    ref: McpReference
    """What the argument belongs to."""
    argument: McpArgument
    """The argument."""
    context: Values | None = None
    """The values of other arguments that are known already."""


def server_requests() -> tuple[ToolSpec, ...]:
    """Return the definitions of all of them.

    Whether a server only reads is not known. The arguments of a prompt may name anything, so its
    resources are not complete. Completions are values that could be entered, and what the server
    looks at to find them no argument shows.
    """
    read = tool_of(McpReadResource, category="mcp")
    named = (
        Resource(verb="reads", steps=("uri",), uri=True),
        Resource(verb="connects", steps=("uri",), uri=True),
    )
    return (
        replace(read, resources=named),
        tool_of(McpGetPrompt, category="mcp", complete=False),
        tool_of(McpComplete, category="mcp", unseen=True),
    )


# They are no tools of their own for clients.
SERVER_REQUESTS = frozenset({READ_RESOURCE, GET_PROMPT, COMPLETE})
