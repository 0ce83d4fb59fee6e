"""`ServedServer`: one server behind a tool service, and the task that keeps its tools there."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from policy.catalog import ToolSpec
from policy.generation import McpServer
from policy.mcp.client import McpClient, ServerStatus
from policy.mcp.errors import McpFailure
from policy.mcp.handler import McpHandler
from policy.mcp.listed_tool import ListedTool, ListFaults
from policy.mcp.names import refused_names
from policy.mcp.offered import OfferedKind
from policy.mcp.pinned_handler import PinnedHandler
from policy.mcp.registering import REFUSED, register_possible, text_of_failure
from policy.mcp.server_sandbox import Protected, tier_of_server
from policy.model import thaw
from policy.pins import (
    Lock,
    PinComparison,
    PinState,
    ServerDefinitions,
    ServerProgram,
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
_MOST_LOGGED = 20  # problems of one list
_QUIET, _LONGEST_QUIET = 0.1, 30.0  # seconds to wait for the end of a burst of changes
_CALM = 5.0  # seconds without a change, after which the next one begins another burst
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds before a list that failed is asked for again
# Registering builds the policy anew, which the event loop must not wait for.
REGISTERING = Threads("tools of MCP servers", most=1)

# Returns the program of a server over stdio as it is pinned; the version is its own statement.
ProgramOf: TypeAlias = Callable[[McpServer, str], ServerProgram | None]
LockOf: TypeAlias = Callable[[], Lock]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """One server: how it is, the states of its pins, and what is wrong with it."""

    status: ServerStatus
    pins: Mapping[str, PinState]
    problems: tuple[str, ...]


class ServedServer:
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
        protected: Protected,
    ) -> None:
        self._service = service
        self._lock = lock
        self._program_of = program_of
        self._changed, self._woken = asyncio.Event(), asyncio.Event()
        self._tried = asyncio.Event()
        self._problems: tuple[str, ...] = ()
        self._pins: Mapping[str, PinState] = {}
        self._handlers: Mapping[str, McpHandler] | None = None
        self._registered: tuple[ToolHandler, ...] = ()
        self._listing = asyncio.Lock()
        # How the server stands to its pins since it was listed last; None before.
        self.state: PinState | None = None
        self.client = McpClient(
            server,
            launcher=launcher,
            restarts=restarts,
            changed=self._changed.set,
            offers_changed=offers_changed,
            protected=protected,
        )
        self._task = asyncio.create_task(self._keep())

    def wake(self) -> None:
        """Have the tools listed and registered again, now."""
        self._woken.set()
        self._changed.set()

    async def listed(self) -> None:
        """Wait until the tools have been listed for the first time, or could not be."""
        await self._tried.wait()

    @property
    def has_listed(self) -> bool:
        """Whether the tools were listed at least once."""
        return self._handlers is not None

    def report(self) -> ServerReport:
        """Return how the server is."""
        problems = (*self._problems, *self.client.outputs.problems.values())
        return ServerReport(status=self.client.status, pins=self._pins, problems=problems)

    async def end(self) -> None:
        """End its sessions; its tools stay in the service."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self.client.close()

    async def _keep(self) -> None:
        """List the tools whenever they may have changed, until the task is cancelled."""
        pause, quiet = _FIRST_PAUSE, _QUIET
        while True:
            self._changed.clear()
            self._woken.clear()
            try:
                await self._list()
                pause = _FIRST_PAUSE
                self._tried.set()
                listed = time.monotonic()
                await self.client.changes(self._changed)
                # A server that announces one list after another is asked less and less often.
                calm = time.monotonic() - listed > _CALM
                quiet = _QUIET if calm else min(2 * quiet, _LONGEST_QUIET)
            except Exception as error:  # noqa: BLE001 - no server may end what serves the others
                name = self.client.server.name
                why = text_of_failure(error)
                _LOG.warning("tools of the MCP server %s: %s", name, why)
                self._problems = (why, *await self._register_pinned())
                self._tried.set()
                self._changed.clear()  # by the session that has failed
                await _within(pause, self._changed)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                await _within(quiet, self._woken)

    async def _list(self) -> Mapping[str, McpHandler]:
        """List the tools, and make them those of the service, in one change; return them."""
        async with self._listing:
            tools, faults = await self.client.list_tools(), self.client.faults
            # Reading many takes a while, for which the event loop must not wait.
            definitions, compared, handlers = await REGISTERING.run(self._read, tools, faults)
            refused = await self._register(handlers.values())
            self._handlers = {
                tool: each for tool, each in handlers.items() if each.spec.name not in refused
            }
            self.state = compared.server_state
            self._pins = {name: compared.state_of(name) for name in definitions.tools}
            left_out = (*definitions.problems, *refused.values())
            self._found((*faults.others, *(f"left out: {why}" for why in left_out)))
            return self._handlers

    def _read(
        self, tools: Iterable[ListedTool], faults: ListFaults
    ) -> tuple[ServerDefinitions, PinComparison, Mapping[str, McpHandler]]:
        """Return what a list declares, how that stands to the lock, and the tools by name."""
        server = self.client.server
        refused = refused_names(server.name, (tool.name for tool in tools))
        definitions = definitions_of(
            server.name,
            tools=[thaw(tool.raw) for tool in tools],
            left_out={**refused, **faults.left_out},
            instructions=self.client.instructions,
            program=self._program_of(server, self.client.server_version),
        )
        compared = compare(self._lock(), definitions)
        return definitions, compared, {e.tool: e for e in _handlers(self.client, compared)}

    def _found(self, problems: tuple[str, ...]) -> None:
        """Report what is wrong with the list, and log what was not wrong before."""
        name, known = self.client.server.name, frozenset(self._problems)
        new = [problem for problem in problems if problem not in known]
        for problem in new[:_MOST_LOGGED]:
            _LOG.warning("the MCP server %s: %s", name, problem)
        if new[_MOST_LOGGED:]:
            _LOG.warning("the MCP server %s: %d more like these", name, len(new) - _MOST_LOGGED)
        self._problems = problems

    async def require_listed(self) -> None:
        """List the tools if they never were; raise McpFailure."""
        if self._handlers is None:
            try:
                await self._list()
            except (*REFUSED, UnusableDefinitions) as error:
                raise McpFailure(text_of_failure(error)) from error

    async def _register(self, handlers: Iterable[ToolHandler]) -> Mapping[str, str]:
        """Make these the tools of the service; return those that are left out, and why."""
        name, before = self.client.server.name, {each.spec.name for each in self._registered}

        def replace(handlers: tuple[ToolHandler, ...]) -> None:
            self._service.replace_all(name, handlers)

        found, refused = await REGISTERING.run(register_possible, tuple(handlers), replace, before)
        self._registered = found
        return refused

    async def _register_pinned(self) -> tuple[str, ...]:
        """Register what was accepted of a server that has never listed its tools.

        Calls of these tools say why they are not possible. Returns what went wrong.
        """
        name = self.client.server.name
        if self._handlers is not None or name not in self._lock().servers:
            return ()
        pinned = [spec for spec in pinned_specs(self._lock()) if spec.origin.server == name]
        try:
            refused = await self._register(self._pinned(spec) for spec in pinned)
        except Exception as error:  # noqa: BLE001 - no server may end what serves the others
            return (text_of_failure(error),)
        return tuple(refused.values())

    def _pinned(self, spec: ToolSpec) -> PinnedHandler:
        async def reach() -> McpHandler | None:
            await self.require_listed()
            return (self._handlers or {}).get(spec.origin.tool)

        return PinnedHandler(
            server=self.client.server.name,
            spec=spec,
            definition=define(spec),
            reach=reach,
            sandbox=tier_of_server(self.client.server),
        )


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Wait for an event, or until the time is over."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def _handlers(client: McpClient, compared: PinComparison) -> Iterator[McpHandler]:
    for spec in live_specs(compared):
        tool = spec.origin.tool
        definition = define(spec)
        now = compared.tools[tool].now or {}
        if compared.state_of(tool) is not PinState.CHANGED:
            output = now.get("outputSchema")
            definition = replace(definition, output=output if isinstance(output, Mapping) else None)
        yield McpHandler(client=client, tool=tool, spec=spec, definition=definition, listed=now)
