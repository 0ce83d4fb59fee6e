"""How many messages of a server are taken at once, and how many a second after that."""

from __future__ import annotations

import asyncio

from policy.mcp.pace import Pace


async def test_messages_beyond_what_is_taken_at_once_wait() -> None:
    loop, pace = asyncio.get_running_loop(), Pace()
    began = loop.time()
    for _ in range(1_050):
        await pace.take()
    # At the least: 50 of them, 500 a second, less what came meanwhile.
    assert loop.time() - began > 0.05
