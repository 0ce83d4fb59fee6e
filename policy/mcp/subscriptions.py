"""`Subscriptions`: the resources of whose changes one session with a server hears.

With a handshake a server is asked once for each resource, and announces changes in the session.
Without one, each subscription is a stream of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

from mcp import Client, MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import (
    Request,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from policy.mcp.error_text import text_of
from policy.mcp.errors import McpFailure, ProtocolError, Uncertain

_LEAVING = 2.0  # seconds for a server to note that nobody listens any more
_ENDED = "the server has ended the subscription"


class Ask(Protocol):
    """Sends a request in the session."""

    def __call__(self, request: Request[Any, Any]) -> Awaitable[dict[str, Any]]:
        """Return the answer; raise McpFailure."""
        ...


class Subscriptions:
    """Tells those who have subscribed to a resource that it has changed."""

    def __init__(self, client: Client, ask: Ask) -> None:
        self._client = client
        self._ask = ask
        self._listeners: dict[str, list[Callable[[], None]]] = {}
        self._changing = asyncio.Lock()
        self._ended = asyncio.Event()

    def updated(self, uri: str) -> None:
        """Report a change that the server announces, of a resource or of a part of it."""
        for subscribed, listeners in tuple(self._listeners.items()):
            if uri == subscribed or uri.startswith(f"{subscribed.rstrip('/')}/"):
                for changed in tuple(listeners):
                    changed()

    def end(self) -> None:
        """Note that the session has ended."""
        self._ended.set()

    async def follow(
        self, uri: str, changed: Callable[[], None], subscribed: Callable[[], None]
    ) -> None:
        """Report changes of a resource until cancelled; `subscribed` is called when that begins.

        Raises McpFailure if the server does not take the subscription, and when the session ends.
        """
        has = self._client.server_capabilities.resources
        if has is None or has.subscribe is not True:
            raise McpFailure("it does not announce changes of single resources")
        if self._client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            await self._stream(uri, changed, subscribed)
        else:
            await self._notifications(uri, changed, subscribed)
        raise Uncertain(_ENDED)

    async def _stream(
        self, uri: str, changed: Callable[[], None], subscribed: Callable[[], None]
    ) -> None:
        try:
            async with self._client.listen(resource_subscriptions=[uri]) as events:
                if uri not in (events.honored.resource_subscriptions or ()):
                    raise ProtocolError("the server does not announce changes of this resource")
                subscribed()
                async for event in events:
                    if isinstance(event, ResourceUpdated):
                        changed()
        except MCPError as error:
            raise ProtocolError(text_of(error)) from error
        except SubscriptionLost as error:
            raise Uncertain(_ENDED) from error

    async def _notifications(
        self, uri: str, changed: Callable[[], None], subscribed: Callable[[], None]
    ) -> None:
        listeners = self._listeners.setdefault(uri, [])
        listeners.append(changed)
        try:
            async with self._changing:
                # For each listener: the server may refuse now what it took before.
                await self._ask(SubscribeRequest(params=SubscribeRequestParams(uri=uri)))
            subscribed()
            await self._ended.wait()
        finally:
            listeners.remove(changed)
            if not listeners:
                self._listeners.pop(uri, None)
                await self._leave(uri)

    async def _leave(self, uri: str) -> None:
        if self._ended.is_set():
            return
        params = UnsubscribeRequestParams(uri=uri)
        with suppress(McpFailure, TimeoutError):
            async with asyncio.timeout(_LEAVING), self._changing:
                if uri not in self._listeners:
                    await self._ask(UnsubscribeRequest(params=params))
