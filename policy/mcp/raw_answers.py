"""`RawAnswers`: takes answers of a server as they were sent, where the SDK would refuse a part.

The SDK checks a whole list or result, so that one part that it does not know would lose the rest.
Where an answer is wanted as it was sent, the SDK gets one that it accepts, and the answer itself is
kept aside.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest, JSONRPCResponse, RequestId

from policy.mcp.pace import Pace

# Valid as the answer to a list or a call in each revision: keys that one does not know are ignored.
STAND_IN: Mapping[str, Any] = {
    "tools": [],
    "resources": [],
    "resourceTemplates": [],
    "prompts": [],
    "content": [],
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}


class Wanted:
    """The answer to one request; `result` is set when it has come."""

    def __init__(self) -> None:
        self.result: dict[str, Any] | None = None
        self.id: RequestId | None = None


# The SDK writes each request in the context of its caller.
_WANTED: ContextVar[Wanted | None] = ContextVar("placet_wanted_answer", default=None)


class RawAnswers:
    """The answers of one session that are wanted as they were sent."""

    def __init__(self) -> None:
        self._waiting: dict[str, Wanted] = {}

    @contextmanager
    def wanted(self) -> Iterator[Wanted]:
        """Have the answer to the one request that is sent in this block kept as it comes."""
        wanted = Wanted()
        token = _WANTED.set(wanted)
        try:
            yield wanted
        finally:
            _WANTED.reset(token)
            if wanted.id is not None:
                self._waiting.pop(str(wanted.id), None)

    @asynccontextmanager
    async def within(self, transport: AbstractAsyncContextManager[Any]) -> AsyncIterator[Any]:
        """Open a transport whose messages are looked at."""
        async with transport as (read, write):
            yield _Reading(self, read), _Writing(self, write)

    def sent(self, message: SessionMessage) -> None:
        """Note a request whose answer is wanted."""
        wanted, request = _WANTED.get(), message.message
        if wanted is not None and isinstance(request, JSONRPCRequest):
            wanted.id = request.id
            self._waiting[str(request.id)] = wanted

    def received(self, message: SessionMessage | Exception) -> SessionMessage | Exception:
        """Keep an answer that is wanted; return what the SDK gets."""
        answer = None if isinstance(message, Exception) else message.message
        if not isinstance(answer, JSONRPCResponse):
            return message
        wanted = self._waiting.get(str(answer.id))
        if wanted is None or wanted.result is not None:
            return message
        wanted.result = answer.result
        assert isinstance(message, SessionMessage)
        shown = JSONRPCResponse(jsonrpc="2.0", id=answer.id, result=dict(STAND_IN))
        return SessionMessage(message=shown, metadata=message.metadata)


class _Stream:
    """A stream of the SDK, with another one inside."""

    def __init__(self, answers: RawAnswers, inner: Any) -> None:
        self._answers = answers
        self._inner = inner

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        ended: bool | None = await self._inner.__aexit__(kind, error, traceback)
        return ended


class _Reading(_Stream):
    def __init__(self, answers: RawAnswers, inner: Any) -> None:
        super().__init__(answers, inner)
        self._pace = Pace()

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent, if the stream inside knows it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        await self._pace.take()
        return self._answers.received(await self._inner.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        await self._pace.take()
        return self._answers.received(await self._inner.__anext__())


class _Writing(_Stream):
    async def send(self, message: SessionMessage) -> None:
        """Send a message."""
        self._answers.sent(message)
        await self._inner.send(message)
