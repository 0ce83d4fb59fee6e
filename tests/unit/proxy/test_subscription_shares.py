"""Subscriptions of one identity, over however many connections, leave room for others."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.types import SubscribeRequestParams, UnsubscribeRequestParams
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from policy.proxy.authentication import Identity, TokenRequired
from policy.proxy.subscriptions import ResourceSubscriptions


class EachOne:
    """Identities in which every token is its owner's name."""

    required = True

    async def identity_of(self, token: bytes) -> Identity | None:
        """Return whom a token belongs to."""
        return Identity(name=token.decode())


async def context_of(name: str, connection: int) -> Any:
    """Return the context of a message in a connection of somebody."""
    found: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found.append(scope)

    headers = [(b"authorization", f"Bearer {name}".encode())]
    headers.append((b"mcp-session-id", f"{name} {connection}".encode()))
    nothing: Any = None
    scope = {"type": "http", "method": "POST", "headers": headers}
    await TokenRequired(app, EachOne())(scope, nothing, nothing)

    async def updated(uri: str) -> None:
        raise AssertionError(uri)

    return SimpleNamespace(
        request=Request(found[0]),
        protocol_version="2025-06-18",
        session=SimpleNamespace(send_resource_updated=updated),
    )


async def test_many_connections_of_one_identity_leave_room_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.proxy.subscriptions._MOST", 32)

    async def done(*_: object, **__: object) -> None:
        await asyncio.sleep(0)

    unused: Any = None
    subscriptions = ResourceSubscriptions(unused, done, done, InMemorySubscriptionBus())

    async def subscribe(name: str, number: int) -> None:
        params = SubscribeRequestParams(uri=f"placet://one/demo://{number}")
        await subscriptions.subscribe(await context_of(name, number), params)

    for number in range(16):
        await subscribe("greedy", number)
    with pytest.raises(MCPError, match="too many subscriptions"):
        await subscribe("greedy", 16)
    for number in range(2):
        await subscribe("ada", number)
    ended = UnsubscribeRequestParams(uri="placet://one/demo://3")
    await subscriptions.unsubscribe(await context_of("greedy", 3), ended)
    await subscribe("bob", 1)
    subscriptions.close()
