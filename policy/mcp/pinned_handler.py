"""`PinnedHandler`: a tool that was accepted, of a server that has not listed its tools yet."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, Protocol

from policy.catalog import ToolSpec
from policy.mcp.errors import McpFailure
from policy.mcp.handler import McpHandler
from policy.model import SandboxTier, Transport
from policy.tools import ExecutionContext, NotAsListed, ToolDefinition, ToolOutput


class ListAgain(Protocol):
    """Has the server list its tools."""

    def __call__(self) -> Awaitable[McpHandler | None]:
        """Return the tool as the server lists it, None if it does not; raise McpFailure."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedHandler:
    """Keeps the place of a tool whose server could not be reached, so that calls say why.

    The call is sent only if the server can be reached now, and has the tool as it was accepted.
    `sandbox` is what the code of the server runs in.
    """

    server: str
    spec: ToolSpec
    definition: ToolDefinition
    reach: ListAgain = field(compare=False, repr=False)
    sandbox: SandboxTier | None = None

    @property
    def defined_at(self) -> str:
        """Where the tool is defined, for messages."""
        return f"the MCP server {self.server}"

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        """Call the tool if that is possible now."""
        try:
            listed = await self.reach()
        except McpFailure as error:
            why = f"the server `{self.server}` was not called: {error}"
            raise Transport(self.spec.name, why) from error
        if listed is None or listed.spec != self.spec:
            raise NotAsListed
        return await listed.invoke(input, ctx)
