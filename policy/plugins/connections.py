"""What connects the code of a plugin to hosts: a call of its own for each connection.

Manifest and grant both have to name a host. What they share is then judged by the rules, as a part
of the call that runs, like each connection of a command in a sandbox.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from policy.generation import Network
from policy.model import GenerationId
from policy.plugins.access import SharedAccess
from policy.sandbox import HostList, NotPermitted, Peer, Target
from policy.service import connections_of_running_call

_UNLISTED = "manifest and grant of the plugin do not both name it"
_BOUNDED = "the rule that allows the call does not let it connect to any host"


class CallConnections:
    """Connects what one call of a plugin runs; it is awaited within that call.

    `access` is what the plugin may touch at most, `network` what the call may use of it, and
    `in_force` returns the policy that decides at that time. `refused` has the hosts that it was
    refused.
    """

    def __init__(
        self,
        access: SharedAccess,
        network: Network,
        *,
        in_force: Callable[[], GenerationId | None],
    ) -> None:
        self._in_force = in_force
        self._lists = [HostList(each) for each in access.hosts]
        self._closed = ""
        if network == "none":
            self._closed = _UNLISTED if access.reach.network == "none" else _BOUNDED
        self.refused: list[str] = []

    async def __call__(self, target: Target) -> Peer:
        """Return a connection; raise NotPermitted or NotReached."""
        try:
            if self._closed:
                raise NotPermitted(self._closed)
            if not all(one.covers(target) for one in self._lists):
                raise NotPermitted(_UNLISTED)
            judged = connections_of_running_call(self._in_force)
            if judged is None:
                raise NotPermitted("no call of the plugin is running")
            return await judged(target)
        except NotPermitted:
            self.refused.append(target.text)
            raise


class ProcessConnections:
    """Connects a process that serves one call after the other: as a part of the one that runs."""

    def __init__(self) -> None:
        self._running: tuple[CallConnections, contextvars.Context] | None = None

    @contextmanager
    def of(self, connections: CallConnections) -> Iterator[None]:
        """Connect the process as this call may, which runs here, until the block ends."""
        self._running = connections, contextvars.copy_context()
        try:
            yield
        finally:
            self._running = None

    async def __call__(self, target: Target) -> Peer:
        """Return a connection; raise NotPermitted or NotReached."""
        if self._running is None:
            raise NotPermitted("no call of the plugin is running")
        running = self._running
        connections, context = running
        # In place of the context of the call that has started the process.
        loop = asyncio.get_running_loop()
        opening = loop.create_task(_opened(connections, target), context=context.copy())
        peer = await opening
        # Another call asks again.
        return replace(peer, is_judged=lambda: peer.is_judged() and self._running is running)


async def _opened(connections: CallConnections, target: Target) -> Peer:
    return await connections(target)
