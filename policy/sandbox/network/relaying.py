"""Passes bytes between two connections until both have ended."""

from __future__ import annotations

import asyncio

from policy.sandbox.network.bounds import Meter, ProxyBounds, TransferUsedUp
from policy.sandbox.network.connecting import Peer

# What is read at a time; a stream holds up to twice as much until it is passed on.
CHUNK = 262_144


async def relay(one: Peer, other: Peer, *, bounds: ProxyBounds, meter: Meter) -> None:
    """Pass bytes in both directions; return when both ends are done, or nothing passes any more."""
    loop = asyncio.get_running_loop()

    async def pump(source: Peer, sink: Peer) -> None:
        while chunk := await source.reader.read(CHUNK):
            meter.count(len(chunk))
            sink.writer.write(chunk)
            await sink.writer.drain()
            limit.reschedule(loop.time() + bounds.idle)
        if sink.writer.can_write_eof():
            sink.writer.write_eof()

    try:
        async with asyncio.timeout(bounds.idle) as limit, asyncio.TaskGroup() as both:
            both.create_task(pump(one, other))
            both.create_task(pump(other, one))
    except* (OSError, TimeoutError, TransferUsedUp):
        # One end is gone, or takes too long: the other one is closed as well.
        one.abort()
        other.abort()
