"""`placet gateway`: serves the tools of MCP servers over MCP, on stdio or HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from policy.cli.python_tools import ProgramTools
from policy.cli.serving.governed_service import GovernedServices
from policy.cli.serving.options import ServingOptions, serving_options
from policy.cli.serving.running import Behind, run_server
from policy.cli.serving.starting import start
from policy.cli.wrapping import wrapping_options
from policy.model import Caller, Verdict
from policy.store import PolicyStore

if TYPE_CHECKING:
    from policy.mcp import McpServers, Standing
    from policy.proxy import ConnectedClient, ListKind, ListName

# How long a client waits for the lists of servers at the start. Many give up after 30 seconds.
_PATIENCE = 15.0


@click.command("gateway")
@wrapping_options
@serving_options()
def command(options: ServingOptions) -> None:
    """Serve the tools of MCP servers to MCP clients, governed by the policy at PATH.

    The servers are those of `[mcp]` in `placet.toml`. The files are watched: an edit takes effect
    with the next call, and restarts the servers that it changes; an invalid one changes nothing.
    --wrap moves the servers of a client behind the gateway: Claude Code, Claude Desktop, Cursor,
    VS Code, Gemini CLI, Codex and others; --unwrap moves them back.

    \b
    Examples:
      placet gateway rules/
      placet gateway rules/ --http 127.0.0.1:8642 --token-file token
      placet gateway rules/ --wrap .mcp.json --dry-run
    """
    store, governed = start_gateway(options)
    run_server(options, store, governed, behind=servers_behind)


def start_gateway(options: ServingOptions) -> tuple[PolicyStore, GovernedServices]:
    """Return the store and the service of a gateway; end the command if it cannot be served."""
    from policy.mcp import client_request_handlers

    tools = ProgramTools(handlers=client_request_handlers())
    return start(options, tools, builtin_tools=False)


@asynccontextmanager
async def servers_behind(store: PolicyStore, governed: GovernedServices) -> AsyncIterator[Behind]:
    """Keep the servers that the policy configures behind the service.

    Without a policy there are none; they start when the first one is in force.
    """
    upstream = _Upstream(store, governed)
    stop = store.subscribe(upstream.look)
    upstream.look()
    keeping = asyncio.create_task(upstream.keep())
    try:
        yield Behind(
            ready=upstream.ready,
            left=upstream.left,
            offered=upstream,
            on_offers=upstream.on_offers,
        )
    finally:
        stop()
        keeping.cancel()
        await asyncio.gather(keeping, *upstream.leaving, return_exceptions=True)


class _Upstream:
    """The servers behind a service, from the first policy on."""

    def __init__(self, store: PolicyStore, governed: GovernedServices) -> None:
        self._store = store
        self._governed = governed
        self._loop = asyncio.get_running_loop()
        self._in_force = asyncio.Event()
        self._listed = asyncio.Event()
        self._servers: McpServers | None = None
        self._offers_changed: Callable[[ListKind], None] = _nothing
        self.leaving: set[asyncio.Task[None]] = set()

    def look(self, _outcome: object = None) -> None:
        """Begin if there is a policy now; may be called from any thread."""
        if self._store.current is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._in_force.set)

    async def keep(self) -> None:
        """Keep the servers until cancelled."""
        from policy.mcp import configured_servers

        await self._in_force.wait()
        self._take_requests()
        async with configured_servers(
            self._governed.service,
            self._store,
            offers_changed=lambda kind: self._offers_changed(kind),
        ) as servers:
            self._servers = servers
            self._listed.set()
            await asyncio.Event().wait()

    def _take_requests(self) -> None:
        """Have the service take what clients ask of servers besides their tools."""
        from policy.mcp import ReviewFilter, server_request_handlers

        service = self._governed.service
        service.register_all(server_request_handlers(lambda: self._servers))
        service.set_smart_filter(ReviewFilter(self._standing, self._verdict_on_new))

    def _standing(self, server: str) -> Standing | None:
        return None if self._servers is None else self._servers.standing(server)

    def _verdict_on_new(self) -> Verdict:
        generation = self._store.current
        return Verdict.DENY if generation is None else generation.settings.pins.new

    def on_offers(self, changed: Callable[[ListKind], None]) -> None:
        """Call `changed` whenever a server announces other resources or prompts."""
        self._offers_changed = changed

    def servers(self) -> Sequence[str]:
        """Return the names of the servers."""
        return () if self._servers is None else self._servers.names

    def missing(self, tool: str) -> str | None:
        """Return why a tool may be unknown: its server has never listed its tools."""
        server = tool.partition("__")[0]
        if self._servers is None or not self._servers.is_unlisted(server):
            return None
        return f"the MCP server `{server}` could not be asked for its tools yet"

    async def lists(
        self, what: ListName, *, caller: Caller, servers: Iterable[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return what servers offer to a caller besides tools."""
        if self._servers is None:
            return {}
        return await self._servers.offered(what, caller=caller, servers=servers)

    async def ready(self) -> None:
        """Wait until every server has listed its tools, or for as long as a client waits."""
        if self._listed.is_set() or self._store.current is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._listed.wait()

    def left(self, client: ConnectedClient) -> None:
        """Close the sessions that nobody but a client who has left could use."""
        if self._servers is None or client.connection is None:
            return
        forgetting = asyncio.create_task(self._servers.forget(self._governed.caller_of(client)))
        self.leaving.add(forgetting)
        forgetting.add_done_callback(self.leaving.discard)


def _nothing(_kind: ListKind) -> None:
    return None
