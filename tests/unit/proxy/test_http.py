"""What the operating system is asked for by a server over HTTP."""

from __future__ import annotations

import asyncio
import socket

import pytest

from policy.proxy import OneToken
from policy.proxy.connection_limit import ConnectionLimit
from tests.unit.proxy.listening import listening
from tests.unit.proxy.test_connection_limit import PATIENCE, TOKEN, connect, is_served


async def test_an_answer_is_sent_without_waiting_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise its second part waits until the client has acknowledged the first: 40 ms."""
    opened: list[asyncio.Transport] = []
    usual = ConnectionLimit.opened

    def noted(self: ConnectionLimit, peer: tuple[str, int], transport: asyncio.Transport) -> None:
        opened.append(transport)
        usual(self, peer, transport)

    monkeypatch.setattr(ConnectionLimit, "opened", noted)
    async with listening(OneToken(token=TOKEN), patience=PATIENCE) as url:
        _, writer = await connect(url)
        assert await is_served(url)
        sockets = [each.get_extra_info("socket") for each in opened]
        assert len(sockets) == 2
        assert all(each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for each in sockets)
        writer.close()
        await writer.wait_closed()
