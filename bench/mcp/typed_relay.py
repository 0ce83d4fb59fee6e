"""A relay that judges nothing: the SDK's server before the SDK's client, with the SDK's types.

python -m bench.mcp.typed_relay COMMAND ARGUMENT…
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

Context = ServerRequestContext[Any, Any]


async def main(command: list[str]) -> None:
    """Serve the tools of a server on standard streams."""
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(stdio_client(parameters)) as upstream:

        async def list_tools(
            ctx: Context, params: PaginatedRequestParams | None
        ) -> ListToolsResult:
            return ListToolsResult(tools=(await upstream.list_tools()).tools)

        async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
            return await upstream.call_tool(params.name, params.arguments or {})

        server: Server[Any] = Server("relay", on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (messages, replies):
            await server.run(messages, replies, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
