"""`McpServers`: the servers behind one tool service, and their tools in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from policy.generation import Generation, McpServer
from policy.mcp.client import McpClient
from policy.mcp.errors import McpFailure
from policy.mcp.offered import KEY_OF, Entries, Offered, OfferedKind
from policy.mcp.resolved_program import program_of
from policy.mcp.served_server import REGISTERING, LockOf, ProgramOf, ServedServer, ServerReport
from policy.mcp.server_sandbox import NOTHING_PROTECTED, Protected
from policy.mcp.standing import Standing, is_as_accepted
from policy.model import Caller
from policy.pins import (
    Lock,
    PinState,
)
from policy.processes import Launcher, RestartLimits
from policy.sandbox import ProtectedPaths
from policy.service import GovernedService
from policy.store import applying_edits

_LOG = logging.getLogger(__name__)
_NEW = Standing(state=PinState.NEW)


class McpServers:
    """Keeps the tools of servers in a service, for as long as the block lasts.

    The tools of a server that cannot be reached stay: calls of them fail until it can be again.
    `lock` returns the reviewed definitions. `program_of` finds the program of a server, which was
    reviewed with them. `listed` returns whether a server's tools stand in a list, in place of pins.
    `offers_changed` is called when a server announces other resources or prompts. `protected`
    returns the files that no server in a sandbox may write.
    """

    def __init__(
        self,
        service: GovernedService,
        *,
        lock: LockOf = Lock,
        program_of: ProgramOf = program_of,
        launcher: Launcher | None = None,
        restarts: RestartLimits | None = None,
        listed: Callable[[str], bool] = lambda server: False,
        offers_changed: Callable[[OfferedKind], None] | None = None,
        protected: Protected = NOTHING_PROTECTED,
    ) -> None:
        self._service = service
        self._protected = protected
        self._lock = lock
        self._program_of = program_of
        self._launcher = launcher
        self._restarts = restarts
        self._in_a_list = listed
        self._offers_changed = offers_changed
        self._served: dict[str, ServedServer] = {}
        self._changing = asyncio.Lock()

    async def use(self, servers: Iterable[McpServer]) -> None:
        """Make these the servers; those that are configured as before are left as they are.

        Returns when each new one has listed its tools, or has failed to in its time.
        """
        wanted = {server.name: server for server in servers}
        async with self._changing:
            gone = [
                name
                for name, served in self._served.items()
                if wanted.get(name) != served.client.server
            ]
            await asyncio.gather(*(self._end(name, kept=name in wanted) for name in gone))
            new = [server for name, server in wanted.items() if name not in self._served]
            await asyncio.gather(*(self._begin(server) for server in new))

    def review_again(self) -> None:
        """Compare all tools with their reviewed definitions again: these have changed."""
        for served in self._served.values():
            served.wake()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the servers, in order."""
        return tuple(sorted(self._served))

    def report(self) -> Mapping[str, ServerReport]:
        """Return how each server is, by name."""
        return {name: served.report() for name, served in sorted(self._served.items())}

    def client(self, server: str) -> McpClient | None:
        """Return the client of a server, None if there is none of this name."""
        served = self._served.get(server)
        return None if served is None else served.client

    def is_unlisted(self, server: str) -> bool:
        """Return whether this is a server whose tools have never been listed here."""
        served = self._served.get(server)
        return served is not None and not served.has_listed

    def standing(self, server: str) -> Standing | None:
        """Return how a server stands to what was reviewed; None if there is none of this name."""
        served = self._served.get(server)
        if served is None:
            return None
        pins = self._lock().servers.get(server)
        if pins is None:
            listed = self._in_a_list(server)
            return Standing(state=PinState.UNCHANGED, prompts=None) if listed else _NEW
        state = served.state or PinState.UNCHANGED
        return Standing(state=state, prompts=pins.prompts)

    async def require_listed(self, server: str) -> None:
        """Have a server say what it is, if it never has; raises McpFailure."""
        await self._served[server].require_listed()

    async def offered(
        self, what: Offered, *, caller: Caller, servers: Iterable[str]
    ) -> Mapping[str, Entries]:
        """Return a list of each of these servers, in the session of this caller, by server.

        Those that cannot be reached, and those that are not as they were reviewed, have none.
        """
        asked = [name for name in servers if name in self._served]
        lists = await asyncio.gather(*(self._offered(name, what, caller) for name in asked))
        return dict(zip(asked, lists, strict=True))

    async def _offered(self, name: str, what: Offered, caller: Caller) -> Entries:
        served = self._served[name]
        try:
            await served.require_listed()
            standing = self.standing(name)
            if standing is None or standing.state is PinState.CHANGED:
                return ()
            entries = await served.client.offered(what, caller=caller, reviewed=standing.is_pinned)
        except McpFailure as error:
            _LOG.warning("the list of %s of the MCP server %s: %s", what, name, error)
            return ()
        return tuple(
            entry
            for entry in entries
            if isinstance(entry, Mapping) and _is_shown(name, what, entry, standing)
        )

    async def forget(self, caller: Caller) -> None:
        """Close the sessions that only this caller's session used, which has ended."""
        clients = [served.client for served in self._served.values()]
        own = [client for client in clients if client.server.isolation == "session"]
        await asyncio.gather(*(client.forget(caller) for client in own))

    async def close(self) -> None:
        """End all sessions; the tools stay in the service, and calls of them fail."""
        async with self._changing:
            await asyncio.gather(*(served.end() for served in self._served.values()))
            self._served.clear()

    async def _begin(self, server: McpServer) -> None:
        served = self._served[server.name] = ServedServer(
            server,
            self._service,
            lock=self._lock,
            program_of=self._program_of,
            launcher=self._launcher,
            restarts=self._restarts,
            offers_changed=self._offers_changed,
            protected=self._protected,
        )
        await served.listed()

    async def _end(self, name: str, *, kept: bool) -> None:
        """End a server; its tools leave the service unless another takes its name."""
        await self._served.pop(name).end()
        if not kept:
            await REGISTERING.run(self._service.replace_all, name, ())


def _is_shown(
    server: str, what: Offered, entry: Mapping[str, Any], standing: Standing | None
) -> bool:
    """Return whether clients may see an entry: a prompt only as it was accepted, if it was."""
    key = entry.get(KEY_OF[what])
    if not isinstance(key, str) or not key:
        return False
    pin = standing.pin_of(key) if standing is not None and what == "prompts" else None
    return pin is None or is_as_accepted(server, (entry,), pin)


class ServerSource(Protocol):
    """The part of a policy store that says which servers there are."""

    @property
    def current(self) -> Generation | None:
        """The generation in force."""
        ...

    def subscribe(self, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call back after every change."""
        ...


@asynccontextmanager
async def configured_servers(
    service: GovernedService,
    store: ServerSource,
    *,
    program_of: ProgramOf = program_of,
    launcher: Launcher | None = None,
    offers_changed: Callable[[OfferedKind], None] | None = None,
) -> AsyncIterator[McpServers]:
    """Keep the servers that a policy configures behind a service, until the block ends.

    An edit of the configuration restarts the servers that it changes, and no others.
    `offers_changed` is called when a server announces other resources or prompts.
    """

    def lock() -> Lock:
        generation = store.current
        return (generation and generation.lock) or Lock()

    def listed(server: str) -> bool:
        generation = store.current
        return generation is not None and server in generation.settings.catalogue.servers

    private = () if service.root is None else (service.root,)

    def protected() -> ProtectedPaths:
        generation = store.current
        if generation is None:
            return ProtectedPaths(private=private)
        return ProtectedPaths.of(generation, private=private, home=service.env.get("HOME"))

    servers = McpServers(
        service,
        lock=lock,
        program_of=program_of,
        launcher=launcher,
        listed=listed,
        offers_changed=offers_changed,
        protected=protected,
    )
    reviewed = lock()

    async def apply() -> None:
        nonlocal reviewed
        await servers.use(_configured(store))
        if lock() != reviewed:
            reviewed = lock()
            servers.review_again()

    try:
        async with applying_edits(store, apply):
            yield servers
    finally:
        await servers.close()


def _configured(store: ServerSource) -> tuple[McpServer, ...]:
    generation = store.current
    return () if generation is None else generation.settings.mcp_servers
