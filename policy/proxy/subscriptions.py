"""What clients hear of the changes of resources, in either revision of the protocol.

A subscription is a call that rules judge as they judge reading the resource. With a handshake it is
a request of its own, and the session hears of changes. Without one, the answer to a request is a
stream of what has changed. What is reported is the name that the client knows, and no contents.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from mcp.server.subscriptions import ListenHandler, ResourceUpdated, ServerEvent, SubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_REQUEST,
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from policy.catalog import READ_RESOURCE
from policy.decision import Visibility
from policy.proxy.connected_client import ConnectedClient, Owner, client_of
from policy.proxy.context import Context
from policy.proxy.offered_names import named_uri
from policy.proxy.server_requests import begin_watching, watched
from policy.runtime import Shares, Threads
from policy.service import GovernedService
from policy.tools import Watch

_LOG = logging.getLogger(__name__)
_QUIET = 0.2  # seconds between two notices about one resource
_MOST_OF_ONE = 100  # connection
_MOST = 1_000  # which callers share
_TOO_MANY = "there are too many subscriptions already; end some that are not needed"
_JUDGING = Threads("subscriptions to resources", most=1)

# Returns the service as a client sees it now.
ServiceFor: TypeAlias = Callable[[ConnectedClient], GovernedService]
# Waits until the tools are there that the server has at its start.
Ready: TypeAlias = Callable[[], Awaitable[object]]
Notify: TypeAlias = Callable[[str], Awaitable[None]]


class Subscribe(Protocol):
    """Makes the call that a subscription is, for the client of a request; raises MCPError."""

    def __call__(self, ctx: Context, params: Any, *, uri: str, watch: Watch) -> Awaitable[Any]:
        """Return when reports have begun."""
        ...


class WatchedResource:
    """One resource of whose changes a client hears, until it ends that.

    Each notice is judged by the rules of its moment, and ends the reports if they deny reading.
    """

    def __init__(self, uri: str, may_hear: Callable[[], Awaitable[bool]], notify: Notify) -> None:
        self._uri = uri
        self._may_hear = may_hear
        self._notify = notify
        self._changed = asyncio.Event()
        self._ends: list[Callable[[], None]] = []
        self._reporting: asyncio.Task[None] | None = None

    def changed(self) -> None:
        """Note that the resource may have changed."""
        self._changed.set()

    def ends_with(self, end: Callable[[], None]) -> None:
        """Keep what ends the reports of the server."""
        self._ends.append(end)

    def begin(self) -> None:
        """Pass reports on from now on."""
        self._reporting = asyncio.create_task(self._report())

    def end(self) -> None:
        """Report nothing any more."""
        if self._reporting is not None:
            self._reporting.cancel()
        self._end_source()

    def _end_source(self) -> None:
        for end in self._ends:
            end()

    async def _report(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                if not await self._may_hear():
                    self._end_source()
                    return
                await self._notify(self._uri)
            except Exception as error:  # noqa: BLE001 - whatever a client that is gone may cause
                _LOG.debug("a client was not notified: %s", type(error).__name__)
            await asyncio.sleep(_QUIET)


class ResourceSubscriptions:
    """The subscriptions of all clients of a server."""

    def __init__(
        self, service_for: ServiceFor, ready: Ready, subscribe: Subscribe, bus: SubscriptionBus
    ) -> None:
        self._service_for = service_for
        self._ready = ready
        self._subscribe = subscribe
        self._bus = bus
        self._held: dict[tuple[Owner, str], WatchedResource] = {}
        self._streams: Counter[Hashable] = Counter()
        self._shares = Shares(_MOST)

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Subscribe the session of a request to a resource."""
        client, session = client_of(ctx), ctx.session
        key = (client.owner, params.uri)
        if key not in self._held:
            self._require_room(client, 1)
        watch = self._watched(client, params.uri, session.send_resource_updated)
        await self._subscribe(ctx, params, uri=params.uri, watch=watch)
        self._end(key)
        self._held[key] = watch
        self._shares.take(_who(key[0]))
        watch.begin()
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """End a subscription, if there is one."""
        self._end((client_of(ctx).owner, params.uri))
        return EmptyResult()

    def _end(self, key: tuple[Owner, str]) -> None:
        watch = self._held.pop(key, None)
        if watch is not None:
            watch.end()
            self._shares.give_back(_who(key[0]))

    async def listen(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Report changes of lists and resources until the client stops listening.

        The acknowledgement names the resources that it may hear of, and no others.
        """
        client, stream = client_of(ctx), _Stream(self._bus)
        uris = tuple(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        self._require_room(client, len(uris))
        watches = {uri: self._watched(client, uri, stream.updated) for uri in uris}
        self._streams[client.owner] += len(uris)
        self._shares.take(_who(client.owner), len(uris))
        try:
            await self._ready()
            begun = await asyncio.gather(
                *(self._begun(client, uri, watch) for uri, watch in watches.items())
            )
            honored = [uri for uri, one in zip(uris, begun, strict=True) if one]
            wanted = params.notifications.model_copy(update={"resource_subscriptions": honored})
            listening = params.model_copy(update={"notifications": wanted})
            return await ListenHandler(stream)(ctx, listening)
        finally:
            for watch in watches.values():
                watch.end()
            self._streams[client.owner] -= len(uris)
            self._shares.give_back(_who(client.owner), len(uris))
            self._streams += Counter()  # forgets those without any

    async def _begun(self, client: ConnectedClient, uri: str, watch: WatchedResource) -> bool:
        # No question can be put to the client here: one that rules ask is put to the queue.
        try:
            await begin_watching(self._service_for(replace(client, watch=watch)), uri)
        except MCPError:
            return False  # it is on record
        watch.begin()
        return True

    def left(self, client: ConnectedClient) -> None:
        """End the subscriptions of a client that has ended its session."""
        for key in [key for key in self._held if key[0] == client.owner]:
            self._end(key)

    def close(self) -> None:
        """End all subscriptions."""
        for watch in self._held.values():
            watch.end()
        self._held.clear()

    def _require_room(self, client: ConnectedClient, more: int) -> None:
        of_one = sum(owner == client.owner for owner, _ in self._held)
        of_one += self._streams[client.owner]
        if of_one + more > _MOST_OF_ONE or not (
            more == 0 or self._shares.has_room(_who(client.owner), more)
        ):
            raise MCPError(INVALID_REQUEST, _TOO_MANY)

    def _watched(self, client: ConnectedClient, uri: str, notify: Notify) -> WatchedResource:
        async def may_hear() -> bool:
            named = named_uri(uri)
            if named is None:
                return False
            service = self._service_for(client)
            found = await _JUDGING.run(service.foreseen, READ_RESOURCE, watched(named))
            return found is not Visibility.HIDDEN

        return WatchedResource(uri, may_hear, notify)


def _who(owner: Owner) -> Hashable:
    """Return whose share a subscription uses: that of an identity, whatever its connections."""
    connection, identity = owner
    return connection if identity is None else ("identity", identity)


class _Stream:
    """What one client listens to: the changes of lists, and those of its own resources."""

    def __init__(self, shared: SubscriptionBus) -> None:
        self._shared = shared
        self._listeners: Sequence[Callable[[ServerEvent], None]] = ()
        self._listening = asyncio.Event()

    async def publish(self, event: ServerEvent) -> None:
        """Report an event to this client alone."""
        await self._listening.wait()
        for listener in self._listeners:
            listener(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Take the one that writes to the client."""
        self._listeners = (*self._listeners, listener)
        self._listening.set()
        return self._shared.subscribe(listener)

    async def updated(self, uri: str) -> None:
        """Report that a resource has changed."""
        await self.publish(ResourceUpdated(uri=uri))
