"""`Conversation`: what a call asks its client, in either revision of the protocol.

With a handshake a server may send a request of its own, and waits for the answer. Without one, the
answer to the call is a question; the call is parked, and the client repeats it with the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from policy.proxy.connected_client import ConnectedClient
from policy.proxy.context import Context
from policy.proxy.relaying import carried, result_of_request

Response: TypeAlias = (
    ElicitResult | CreateMessageResult | CreateMessageResultWithTools | ListRootsResult
)

_CURRENT: ContextVar[Conversation | None] = ContextVar("placet_conversation", default=None)


class NotAskable(Exception):
    """The client of a call cannot be asked now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What the client is asked, and where its answer is waited for."""

    request: InputRequest
    answer: asyncio.Future[Response]


class Conversation:
    """One call, and the questions that it waits for.

    Each question has a name of its own, so that no answer counts for another one.
    """

    def __init__(self, ctx: Context, client: ConnectedClient, *, parks: bool) -> None:
        self._ctx = ctx
        self._parks = parks
        self._questions: dict[str, _Question] = {}
        self._asked = asyncio.Event()
        self._count = 0
        self._relayed = result_of_request()
        self.task: asyncio.Task[CallToolResult] | None = None
        self.client = client

    def takes(self, request: InputRequest) -> bool:
        """Return whether the client has declared that it answers such requests."""
        declared = self._ctx.session.client_capabilities
        if declared is None:
            return False
        match request:
            case CreateMessageRequest():
                return declared.sampling is not None
            case ListRootsRequest():
                return declared.roots is not None
            case ElicitRequest(params=ElicitRequestURLParams()):
                return declared.elicitation is not None and declared.elicitation.url is not None
            case _:
                told = declared.elicitation
                # Clients of old revisions declare no modes: they show forms.
                return told is not None and (told.form is not None or told.url is None)

    async def ask(self, request: InputRequest) -> Response:
        """Return the client's answer; raise NotAskable if there can be none."""
        if not self.takes(request):
            raise NotAskable
        if self._ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            # It belongs to the call, so that it arrives where the client waits for that.
            within = ServerMessageMetadata(related_request_id=self._ctx.request_id)
            return await self._ctx.session.send_request(
                request, _result_type(request), metadata=within
            )
        if not self._parks:
            raise NotAskable
        self._count += 1
        name = f"question-{self._count}"
        answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._questions[name] = _Question(request=request, answer=answer)
        self._asked.set()
        try:
            return await answer
        finally:
            self._questions.pop(name, None)
            self._note_open()

    def reply(self, params: CallToolRequestParams) -> None:
        """Take the answers that a repeated call brings; those that are too late do not count."""
        for name, found in (params.input_responses or {}).items():
            question = self._questions.get(name)
            if question is None or question.answer.done():
                continue
            if isinstance(found, _result_type(question.request)):
                question.answer.set_result(found)
        self._note_open()

    def _note_open(self) -> None:
        if not self._open():
            self._asked.clear()

    def _open(self) -> dict[str, InputRequest]:
        open = ((name, one) for name, one in self._questions.items() if not one.answer.done())
        return {name: one.request for name, one in open}

    async def next(self, state: str) -> CallToolResult | InputRequiredResult:
        """Return the result of the call, or the questions that it waits for.

        Whoever stops waiting withdraws the call.
        """
        assert self.task is not None
        while True:
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
            if open := self._open():  # a question may have been withdrawn since
                return InputRequiredResult(input_requests=open, request_state=state)


def _result_type(request: InputRequest) -> Any:
    match request:
        case ElicitRequest():
            return ElicitResult
        case ListRootsRequest():
            return ListRootsResult
        case _:
            return CreateMessageResult


@contextmanager
def current(conversation: Conversation) -> Iterator[None]:
    """Make a conversation that of the calls that are made within the block."""
    token = _CURRENT.set(conversation)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def conversation_here() -> Conversation | None:
    """Return the conversation of the call that runs here, None outside of one."""
    return _CURRENT.get()
