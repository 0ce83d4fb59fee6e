"""A server of one tool over plain HTTP, for tests of what its clients may do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from mcp.types import CallToolRequestParams, CallToolResult, TextContent

from policy.proxy import Address, Identities, ToolServer, serve_http


@asynccontextmanager
async def listening(identities: Identities, *, patience: float) -> AsyncIterator[str]:
    """Serve within the block, which gets the address and has so many seconds."""
    url: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def call_tool(ctx: object, params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(text="done")])

    server = ToolServer("test", on_call_tool=call_tool)
    where = Address(host="127.0.0.1", port=0)
    serving = asyncio.create_task(
        serve_http(server, where, identities=identities, listening=url.set_result)
    )
    try:
        async with asyncio.timeout(patience):
            yield await url
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
