"""`Conversation`: what a call asks the person at its client, in either revision of the protocol.

With a handshake a server may send a request of its own, and waits for the answer. Without one, the
answer to the call is a question; the call is parked, and the client repeats it with the answer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from policy.proxy.connected_client import ConnectedClient
from policy.proxy.list_changes import Context
from policy.proxy.relaying import carried, result_of_request

_QUESTION = "question"
_MOST_PARKED = 1_000
# Seconds that a call may be parked at most: as long as any approval may take.
LONGEST = 86_400.0
_GRACE = 60.0  # seconds that the result of a parked call is kept for its client

_CURRENT: ContextVar[Conversation | None] = ContextVar("placet_conversation", default=None)


class NotAskable(Exception):
    """The client of a call cannot be asked now."""


class Conversation:
    """One call, and the question that it waits for, if any."""

    def __init__(self, ctx: Context, client: ConnectedClient, *, parks: bool) -> None:
        self._ctx = ctx
        self._parks = parks
        self._question: ElicitRequestFormParams | None = None
        self._answer: asyncio.Future[ElicitResult] | None = None
        self._asked = asyncio.Event()
        self._relayed = result_of_request()
        self.task: asyncio.Task[CallToolResult] | None = None
        self.client = client

    @property
    def is_askable(self) -> bool:
        """Whether the client shows forms to its user."""
        declared = self._ctx.session.client_capabilities
        told = None if declared is None else declared.elicitation
        # Clients of old revisions declare no modes: they show forms.
        return told is not None and (told.form is not None or told.url is None)

    async def ask(self, question: ElicitRequestFormParams) -> ElicitResult:
        """Return the answer of the person; raise NotAskable if there can be none."""
        if not self.is_askable or self._answer is not None:
            raise NotAskable
        if self._ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return await self._ctx.session.elicit_form(
                question.message, question.requested_schema, self._ctx.request_id
            )
        if not self._parks:
            raise NotAskable
        self._answer = asyncio.get_running_loop().create_future()
        self._question = question
        self._asked.set()
        try:
            return await self._answer
        finally:
            self._question = self._answer = None
            self._asked.clear()

    def reply(self, params: CallToolRequestParams) -> None:
        """Take the answer that a repeated call brings; one that is too late counts for nothing."""
        found = (params.input_responses or {}).get(_QUESTION)
        if self._answer is None or self._answer.done():
            return
        if not isinstance(found, ElicitResult):
            raise MCPError(INVALID_PARAMS, f"the answer to `{_QUESTION}` is missing")
        self._answer.set_result(found)
        self._asked.clear()

    async def next(self, state: str) -> CallToolResult | InputRequiredResult:
        """Return the result of the call, or the question that it waits for.

        Whoever stops waiting withdraws the call.
        """
        assert self.task is not None
        asking = asyncio.create_task(self._asked.wait())
        try:
            await asyncio.wait((self.task, asking), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
            raise
        finally:
            asking.cancel()
        if self.task.done():
            carried(self._relayed)
            return self.task.result()
        assert self._question is not None
        return InputRequiredResult(
            input_requests={_QUESTION: ElicitRequest(params=self._question)}, request_state=state
        )


class Conversations:
    """The calls of a server's clients that are parked, each for the client that made it."""

    def __init__(self) -> None:
        self._parked: dict[str, Conversation] = {}

    async def begin(
        self,
        ctx: Context,
        client: ConnectedClient,
        call: Callable[[], Coroutine[Any, Any, CallToolResult]],
    ) -> CallToolResult | InputRequiredResult:
        """Make a call; return its result, or its first question."""
        conversation = Conversation(ctx, client, parks=len(self._parked) < _MOST_PARKED)
        with _current(conversation):
            conversation.task = asyncio.create_task(call())
        return await self._next(conversation)

    async def resume(
        self, client: ConnectedClient, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Go on with a parked call; raise MCPError if there is none of this state and client."""
        conversation = self._parked.pop(params.request_state or "", None)
        if conversation is None or not _is_same(conversation.client, client):
            if conversation is not None:
                self._parked[params.request_state or ""] = conversation
            raise MCPError(INVALID_PARAMS, "this call is not waiting for an answer")
        conversation.reply(params)
        return await self._next(conversation)

    async def _next(self, conversation: Conversation) -> CallToolResult | InputRequiredResult:
        # A state serves once: whoever repeats it finds nothing.
        state = secrets.token_urlsafe(16)
        result = await conversation.next(state)
        if isinstance(result, InputRequiredResult):
            self._parked[state] = conversation
            if conversation.task is not None:
                conversation.task.add_done_callback(lambda _: self._drop_later(state))
        return result

    def _drop_later(self, state: str) -> None:
        asyncio.get_running_loop().call_later(_GRACE, self._parked.pop, state, None)

    async def close(self) -> None:
        """Withdraw all parked calls."""
        tasks = [one.task for one in self._parked.values() if one.task is not None]
        self._parked.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_same(one: ConnectedClient, other: ConnectedClient) -> bool:
    return (one.connection, one.identity) == (other.connection, other.identity)


@contextmanager
def _current(conversation: Conversation) -> Iterator[None]:
    token = _CURRENT.set(conversation)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def conversation_here() -> Conversation | None:
    """Return the conversation of the call that runs here, None outside of one."""
    return _CURRENT.get()
