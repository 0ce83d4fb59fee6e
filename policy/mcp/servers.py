"""`McpServers`: the servers behind one tool service, and their tools in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from policy.catalog import CatalogError, ToolSpec
from policy.generation import Generation, McpServer
from policy.mcp.client import McpClient, ServerStatus
from policy.mcp.errors import McpFailure
from policy.mcp.handler import McpHandler
from policy.mcp.names import refused_names
from policy.mcp.offered import KEY_OF, Entries, Offered, OfferedKind
from policy.mcp.pinned_handler import PinnedHandler
from policy.mcp.resolved_program import program_of
from policy.mcp.standing import Standing, is_as_accepted
from policy.model import Caller, PolicyInvalid, ToolError, thaw
from policy.pins import (
    Comparison,
    Lock,
    PinState,
    Program,
    UnusableDefinitions,
    compare,
    definitions_of,
    live_specs,
    pinned_specs,
)
from policy.processes import Launcher, RestartLimits
from policy.runtime import Threads
from policy.service import GovernedService
from policy.tools import ToolHandler, define

_LOG = logging.getLogger(__name__)
_QUIET = 0.1  # seconds to wait for the end of a burst of changes
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds before a list that failed is asked for again
# Registering builds the policy anew, which the event loop must not wait for.
_REGISTERING = Threads("tools of MCP servers", most=1)

# Returns the program of a server over stdio as it is pinned; the version is its own statement.
ProgramOf: TypeAlias = Callable[[McpServer, str], Program | None]
_NEW = Standing(state=PinState.NEW)
LockOf: TypeAlias = Callable[[], Lock]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """One server: how it is, the states of its pins, and what is wrong with it."""

    status: ServerStatus
    pins: Mapping[str, PinState]
    problems: tuple[str, ...]


class McpServers:
    """Keeps the tools of servers in a service, for as long as the block lasts.

    The tools of a server that cannot be reached stay: calls of them fail until it can be again.
    `lock` returns the reviewed definitions. `program_of` finds the program of a server, which was
    reviewed with them. `listed` returns whether a server's tools stand in a list, in place of pins.
    `offers_changed` is called when a server announces other resources or prompts.
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
    ) -> None:
        self._service = service
        self._lock = lock
        self._program_of = program_of
        self._launcher = launcher
        self._restarts = restarts
        self._in_a_list = listed
        self._offers_changed = offers_changed
        self._served: dict[str, _Served] = {}
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
        served = self._served[server.name] = _Served(
            server,
            self._service,
            lock=self._lock,
            program_of=self._program_of,
            launcher=self._launcher,
            restarts=self._restarts,
            offers_changed=self._offers_changed,
        )
        await served.listed()

    async def _end(self, name: str, *, kept: bool) -> None:
        """End a server; its tools leave the service unless another takes its name."""
        await self._served.pop(name).end()
        if not kept:
            await _REGISTERING.run(self._service.replace_all, name, ())


class _Served:
    """One server: its client, and the task that keeps its tools in the service."""

    def __init__(
        self,
        server: McpServer,
        service: GovernedService,
        *,
        lock: LockOf,
        program_of: ProgramOf,
        launcher: Launcher | None,
        restarts: RestartLimits | None,
        offers_changed: Callable[[OfferedKind], None] | None,
    ) -> None:
        self._service = service
        self._lock = lock
        self._program_of = program_of
        self._changed = asyncio.Event()
        self._tried = asyncio.Event()
        self._problems: tuple[str, ...] = ()
        self._pins: Mapping[str, PinState] = {}
        self._handlers: Mapping[str, McpHandler] | None = None
        self._listing = asyncio.Lock()
        # How the server stands to its pins since it was listed last; None before.
        self.state: PinState | None = None
        self.client = McpClient(
            server,
            launcher=launcher,
            restarts=restarts,
            changed=self._changed.set,
            offers_changed=offers_changed,
        )
        self._task = asyncio.create_task(self._keep())

    def wake(self) -> None:
        """Have the tools listed and registered again."""
        self._changed.set()

    async def listed(self) -> None:
        """Wait until the tools have been listed for the first time, or could not be."""
        await self._tried.wait()

    def report(self) -> ServerReport:
        return ServerReport(status=self.client.status, pins=self._pins, problems=self._problems)

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self.client.close()

    async def _keep(self) -> None:
        """List the tools whenever they may have changed, until the task is cancelled."""
        pause = _FIRST_PAUSE
        while True:
            self._changed.clear()
            try:
                await self._list()
                pause = _FIRST_PAUSE
                self._tried.set()
                await self.client.changes(self._changed)
            except Exception as error:  # noqa: BLE001 - no server may end what serves the others
                name = self.client.server.name
                why = _text_of(error)
                _LOG.warning("tools of the MCP server %s: %s", name, why)
                self._problems = (why, *await self._register_pinned())
                self._tried.set()
                self._changed.clear()  # by the session that has failed
                await self._changed_within(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                await asyncio.sleep(_QUIET)

    async def _changed_within(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _list(self) -> Mapping[str, McpHandler]:
        """List the tools, and make them those of the service, in one change; return them."""
        async with self._listing:
            tools = await self.client.list_tools()
            server = self.client.server
            refused = refused_names(server.name, (tool.name for tool in tools))
            definitions = definitions_of(
                server.name,
                tools=[thaw(tool.raw) for tool in tools if tool.name not in refused],
                instructions=self.client.instructions,
                program=self._program_of(server, self.client.server_version),
            )
            compared = compare(self._lock(), definitions)
            handlers = {each.tool: each for each in _handlers(self.client, compared)}
            await self._register(handlers.values())
            self._handlers = handlers
            self.state = compared.server_state
            self._pins = {name: compared.state_of(name) for name in definitions.tools}
            self._problems = (*refused.values(), *definitions.problems)
            return handlers

    async def require_listed(self) -> None:
        """List the tools if they never were; raise McpFailure."""
        if self._handlers is None:
            try:
                await self._list()
            except (ToolError, CatalogError, PolicyInvalid, UnusableDefinitions) as error:
                raise McpFailure(_text_of(error)) from error

    async def _register(self, handlers: Iterable[ToolHandler]) -> None:
        name = self.client.server.name
        await _REGISTERING.run(self._service.replace_all, name, tuple(handlers))

    async def _register_pinned(self) -> tuple[str, ...]:
        """Register what was accepted of a server that has never listed its tools.

        Calls of these tools say why they are not possible. Returns what went wrong.
        """
        name = self.client.server.name
        if self._handlers is not None or name not in self._lock().servers:
            return ()
        pinned = [spec for spec in pinned_specs(self._lock()) if spec.origin.server == name]
        try:
            await self._register(self._pinned(spec) for spec in pinned)
        except Exception as error:  # noqa: BLE001 - no server may end what serves the others
            return (_text_of(error),)
        return ()

    def _pinned(self, spec: ToolSpec) -> PinnedHandler:
        async def reach() -> McpHandler | None:
            await self.require_listed()
            return (self._handlers or {}).get(spec.origin.tool)

        return PinnedHandler(
            server=self.client.server.name, spec=spec, definition=define(spec), reach=reach
        )


def _handlers(client: McpClient, compared: Comparison) -> Iterator[McpHandler]:
    for spec in live_specs(compared):
        tool = spec.origin.tool
        definition = define(spec)
        now = compared.tools[tool].now or {}
        if compared.state_of(tool) is not PinState.CHANGED:
            output = now.get("outputSchema")
            definition = replace(definition, output=output if isinstance(output, Mapping) else None)
        yield McpHandler(client=client, tool=tool, spec=spec, definition=definition, listed=now)


def _is_shown(
    server: str, what: Offered, entry: Mapping[str, Any], standing: Standing | None
) -> bool:
    """Return whether clients may see an entry: a prompt only as it was accepted, if it was."""
    key = entry.get(KEY_OF[what])
    if not isinstance(key, str) or not key:
        return False
    pin = standing.pin_of(key) if standing is not None and what == "prompts" else None
    return pin is None or is_as_accepted(server, (entry,), pin)


def _text_of(error: Exception) -> str:
    match error:
        case PolicyInvalid():
            first = error.diagnostics[0].message if error.diagnostics else str(error)
            return f"the policy has errors with these tools: {first}"
        case McpFailure() | ToolError() | CatalogError() | UnusableDefinitions():
            return str(error)
        case _:
            return f"{type(error).__name__}: {error}"


class Store(Protocol):
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
    store: Store,
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

    servers = McpServers(
        service,
        lock=lock,
        program_of=program_of,
        launcher=launcher,
        listed=listed,
        offers_changed=offers_changed,
    )
    edited = asyncio.Event()
    loop = asyncio.get_running_loop()

    def changed(outcome: object) -> None:
        loop.call_soon_threadsafe(edited.set)

    async def follow() -> None:
        reviewed = lock()
        while True:
            await edited.wait()
            edited.clear()
            await servers.use(_configured(store))
            if lock() != reviewed:
                reviewed = lock()
                servers.review_again()

    stop = store.subscribe(changed)
    following = asyncio.create_task(follow())
    try:
        await servers.use(_configured(store))
        yield servers
    finally:
        stop()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await servers.close()


def _configured(store: Store) -> tuple[McpServer, ...]:
    generation = store.current
    return () if generation is None else generation.settings.mcp_servers
