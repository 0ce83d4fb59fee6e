"""`ParkedCalls`: the calls that wait for the answer of their client.

A state names one of them, once. What the client carries is sealed by the SDK: it belongs to this
call, its arguments and this client (`RequestStateSecurity`). The key outlives this process and the
parked calls do not, so a state says which process has parked the call.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
)

from policy.proxy.connected_client import ConnectedClient
from policy.proxy.context import Context
from policy.proxy.conversation import Conversation, current
from policy.proxy.progress import ProgressOfCall, ProgressToClient

_MOST_PARKED = 1_000
_MOST_OF_ONE = 100  # client
# Seconds that a call may be parked at most: as long as any approval may take.
LONGEST = 86_400.0
_GRACE = 60.0  # seconds that the result of a parked call is kept for its client

_NOT_PARKED = "this call is not waiting for an answer: it has ended, or was answered before"
_RESTARTED = (
    "this call is not waiting for an answer any more: the server was started again, which ended "
    "the call; make the call again if it is still wanted"
)


class ParkedCalls:
    """The calls of a server's clients that are parked, each for the client that made it."""

    def __init__(self) -> None:
        self._run = secrets.token_urlsafe(8)
        self._parked: dict[str, Conversation] = {}

    async def begin(
        self,
        ctx: Context,
        client: ConnectedClient,
        call: Callable[[], Coroutine[Any, Any, CallToolResult]],
    ) -> CallToolResult | InputRequiredResult:
        """Make a call; return its result, or its first questions."""
        conversation = Conversation(ctx, client, parks=self._has_room(client))
        with current(conversation):
            conversation.task = asyncio.create_task(call())
        return await self._next(conversation)

    async def resume(
        self,
        client: ConnectedClient,
        params: CallToolRequestParams,
        progress: ProgressToClient | None,
    ) -> CallToolResult | InputRequiredResult:
        """Go on with a parked call; raise MCPError if there is none of this state and client.

        `progress` takes the reports about the call from now on.
        """
        state = params.request_state or ""
        conversation = self._parked.get(state)
        if conversation is None or conversation.client.owner != client.owner:
            ours = state.partition(".")[0] == self._run
            why, reason = (_NOT_PARKED, "not_parked") if ours else (_RESTARTED, "restarted")
            raise MCPError(INVALID_PARAMS, why, data={"reason": reason})
        del self._parked[state]
        if isinstance(conversation.client.progress, ProgressOfCall):
            conversation.client.progress.goes_to(progress)
        conversation.reply(params)
        return await self._next(conversation)

    async def _next(self, conversation: Conversation) -> CallToolResult | InputRequiredResult:
        # A state serves once: whoever repeats it finds nothing.
        state = f"{self._run}.{secrets.token_urlsafe(16)}"
        result = await conversation.next(state)
        if isinstance(result, InputRequiredResult):
            self._parked[state] = conversation
            if isinstance(conversation.client.progress, ProgressOfCall):
                conversation.client.progress.goes_to(None)
            if conversation.task is not None:
                conversation.task.add_done_callback(lambda _: self._drop_later(state))
        return result

    def _has_room(self, client: ConnectedClient) -> bool:
        """Return whether a call may be parked: no client takes the room of all others."""
        if len(self._parked) >= _MOST_PARKED:
            return False
        parked = Counter(one.client.owner for one in self._parked.values())
        return parked[client.owner] < _MOST_OF_ONE

    def _drop_later(self, state: str) -> None:
        asyncio.get_running_loop().call_later(_GRACE, self._parked.pop, state, None)

    async def close(self) -> None:
        """Withdraw all parked calls."""
        tasks = [one.task for one in self._parked.values() if one.task is not None]
        self._parked.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
