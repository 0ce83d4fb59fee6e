"""Ends a call when the client that made it disconnects.

A client that disconnects, cancels the request or ends its session withdraws the call: a running
tool is ended, and a pending approval request is withdrawn, so that nobody answers it in vain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeAlias

import anyio
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    CallToolResult,
    InputRequiredResult,
)
from starlette.requests import Request

from policy.proxy.context import Context
from policy.proxy.progress import ProgressToClient
from policy.proxy.request_ids import ID_IN_USE
from policy.proxy.session_ids import session_id_of

# The result of a call, or what it needs before.
Answer: TypeAlias = CallToolResult | InputRequiredResult


class ClientPresence:
    """The calls of a server's clients that have not ended."""

    def __init__(self) -> None:
        self._running: set[tuple[str, str]] = set()

    async def result_of(
        self,
        ctx: Context,
        call: Coroutine[Any, Any, Answer],
        progress: ProgressToClient | None,
    ) -> Answer:
        """Return the result of a call; raise MCPError if its id is in use or its client is gone.

        A client that takes progress hears that the call has not ended, before it gives up.
        """
        key = _key(ctx)
        if key is None:
            return await _result_while_present(ctx, call, progress)
        if key in self._running:
            call.close()
            raise MCPError(INVALID_REQUEST, ID_IN_USE)
        self._running.add(key)
        try:
            return await _result_while_present(ctx, call, progress)
        finally:
            self._running.discard(key)


def _key(ctx: Context) -> tuple[str, str] | None:
    """Return session and id of a request; None for a request without a session.

    An answer finds its request by the text of the id, so `1` and `"1"` are the same.
    """
    session = "" if ctx.request is None else session_id_of(ctx)
    return None if session is None or ctx.request_id is None else (session, str(ctx.request_id))


async def _result_while_present(
    ctx: Context, call: Coroutine[Any, Any, Answer], progress: ProgressToClient | None
) -> Answer:
    # In a separate task, so that it is cancelled only once and can clean up.
    running = asyncio.ensure_future(call)
    ends = (
        [running]
        if ctx.request is None
        else [running, asyncio.create_task(_disconnected(ctx.request))]
    )
    tasks = list(ends)
    if progress is not None:
        tasks.append(asyncio.create_task(progress.report_waiting()))
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        raise MCPError(CONNECTION_CLOSED, "the client has gone")
    finally:
        for task in tasks:
            task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*tasks, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    """Return when the client of an HTTP request has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
