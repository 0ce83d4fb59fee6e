"""`McpClient`: one MCP server, its tools, and what is asked of it in the sessions of its callers.

A call that may have reached the server is never sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from policy.generation import McpServer, ServerTransport
from policy.mcp.errors import McpFailure, NotSent, Redefined
from policy.mcp.judged import Judged, Said, is_as_judged, said_in
from policy.mcp.listed_tool import Era, ListedTool, ListFaults
from policy.mcp.open_calls import Asker
from policy.mcp.output_checks import OutputChecks
from policy.mcp.server_sandbox import NOTHING_PROTECTED, Protected
from policy.mcp.sessions import Key, Sessions
from policy.mcp.watches import Follow, Watches
from policy.model import Caller
from policy.processes import Launcher, RestartLimits
from policy.sandbox import SandboxDenial
from policy.tools import ProgressReporter, Watch

if TYPE_CHECKING:
    from policy.mcp.connection import Connection
    from policy.mcp.offered import Announced, Entries, Offered

_NOBODY = Caller()
T = TypeVar("T")


class _SessionGone(NotSent):
    """The server does not know the session any more, so another one may be tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """How a server is, as far as is known: its session for listing, and its last error."""

    state: str
    sessions: int
    era: Era | None
    protocol_version: str | None
    last_error: str


class McpClient:
    """A server's tools, and calls of them.

    `launcher` starts the programs of servers over stdio. `restarts` says when a session that has
    failed is opened again. `changed` is called when the server announces another list of tools in
    any session, or the session that would have heard of it is lost; `offers_changed` is the same
    for resources and prompts. `protected` returns what is kept from a confined server.
    """

    def __init__(
        self,
        server: McpServer,
        *,
        launcher: Launcher | None = None,
        restarts: RestartLimits | None = None,
        changed: Callable[[], None] | None = None,
        offers_changed: Announced | None = None,
        protected: Protected = NOTHING_PROTECTED,
    ) -> None:
        self.server = server
        self.tools: tuple[ListedTool, ...] = ()
        self.faults = ListFaults()
        self.outputs = OutputChecks(server.name, server.output_schema)
        self.instructions: str | None = None
        self.server_version = ""
        self._listed_about: Said | None = None
        self._announces = False
        self._changed = changed
        self._sessions = Sessions(
            server,
            launcher=launcher,
            restarts=restarts,
            changed=changed,
            offers_changed=offers_changed,
            protected=protected,
        )
        self._watches = Watches()
        self._last_error = ""

    @property
    def transport(self) -> ServerTransport:
        """How the server is reached."""
        return self.server.transport

    @property
    def status(self) -> ServerStatus:
        """How the server is."""
        states = self._sessions.states
        open = states.count("open")
        era, version = self._sessions.agreed or (None, None)
        return ServerStatus(
            state="open" if open else "failed" if "failed" in states else "closed",
            sessions=open,
            era=era,
            protocol_version=version,
            last_error=self._last_error,
        )

    async def list_tools(self) -> tuple[ListedTool, ...]:
        """Ask the server for its tools, within its time limit, and keep them in `tools`.

        `faults` is what was wrong with the list. Raises McpFailure; then `tools` are those of the
        last time.
        """
        seconds = self.server.listing
        try:
            async with self._sessions.use(None) as connection:
                try:
                    async with asyncio.timeout(seconds):
                        found = await connection.list_tools()
                except TimeoutError:
                    why = f"the server has not listed its tools within {seconds:g} seconds"
                    connection.lost(why)
                    raise McpFailure(why) from None
                self._listed_about = said_in(connection)
                self.instructions, self.server_version = self._listed_about
                self._announces = connection.announces_changes
                self.faults = connection.faults
        except McpFailure as error:
            self._last_error = str(error)
            raise
        self.tools = found
        return found

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = _NOBODY,
        progress: ProgressReporter | None = None,
        judged: Judged | None = None,
        asker: Asker | None = None,
    ) -> dict[str, Any]:
        """Call a tool in the session of this caller; return the result as the server sends it.

        `judged` is what the caller was allowed to call; `asker` is what asks the client for what
        the server needs meanwhile. Raises SandboxTooWide if rules rely on narrower bounds than its
        sandbox has, Redefined if the tool differs in this session, NotSent if the
        call has certainly not run, Uncertain if it may have, and ProtocolError if the server
        answered with an error of the protocol.
        """
        key = self._sessions.key_of(caller)
        try:
            try:
                return await self._call(key, name, arguments, progress, judged, asker)
            except _SessionGone:
                return await self._call(key, name, arguments, progress, judged, asker)
        except McpFailure as error:
            self._last_error = str(error)
            raise

    def denial(self, caller: Caller, said: str) -> SandboxDenial | None:
        """Return why the sandbox of the server has made a call fail, from what it says."""
        try:
            sandbox = self._sessions.sandbox_of(self._sessions.key_of(caller))
        except NotSent:
            return None
        return None if sandbox is None else sandbox.denial(said)

    async def in_session(
        self,
        caller: Caller,
        work: Callable[[Connection], Awaitable[T]],
        *,
        reviewed: bool = False,
        asker: Asker | None = None,
    ) -> T:
        """Return what `work` does in the session of this caller; raise McpFailure like a call.

        A `reviewed` server must say of itself here what it said when its tools were listed; if it
        does not, Redefined is raised, and nothing is done. `asker` is as for a call.
        """
        key = self._sessions.key_of(caller)
        try:
            try:
                return await self._work(key, work, reviewed=reviewed, asker=asker)
            except _SessionGone:
                return await self._work(key, work, reviewed=reviewed, asker=asker)
        except McpFailure as error:
            self._last_error = str(error)
            raise

    async def offered(self, what: Offered, *, caller: Caller, reviewed: bool = False) -> Entries:
        """Return a list of the server besides its tools, in the session of this caller.

        Raises McpFailure, also if that takes longer than the time limit for lists.
        """
        seconds = self.server.listing

        async def listed(connection: Connection) -> Entries:
            try:
                async with asyncio.timeout(seconds):
                    return await connection.offers.current(what)
            except TimeoutError:
                why = f"the server has not listed its {what} within {seconds:g} seconds"
                raise McpFailure(why) from None

        return await self.in_session(caller, listed, reviewed=reviewed)

    async def _work(
        self,
        key: Key,
        work: Callable[[Connection], Awaitable[T]],
        *,
        reviewed: bool,
        asker: Asker | None = None,
    ) -> T:
        # A server may ask when its session begins, too.
        with self._sessions.calls_in(key).open(asker):
            return await self._work_in(key, work, reviewed=reviewed)

    async def _work_in(
        self, key: Key, work: Callable[[Connection], Awaitable[T]], *, reviewed: bool
    ) -> T:
        async with self._sessions.use(key) as connection:
            if reviewed and said_in(connection) != self._listed_about:
                raise Redefined("the server says something else of itself than it did")
            try:
                return await work(connection)
            except NotSent as error:
                connection.lost(str(error))
                raise _SessionGone(str(error)) from error

    async def changes(self, changed: asyncio.Event) -> None:
        """Wait for the event of a changed list; keep a session open if the server announces it."""
        if not self._announces:
            await changed.wait()
            return
        async with self._sessions.use(None):
            await changed.wait()

    async def check(self) -> bool:
        """Return whether the server answers in the session that lists its tools."""
        try:
            async with self._sessions.use(None) as connection:
                return await connection.health.check()
        except McpFailure as error:
            self._last_error = str(error)
            return False

    async def watch(
        self, uri: str, watch: Watch, *, caller: Caller, reviewed: bool = False
    ) -> None:
        """Report changes of a resource to `watch` from now on, in the session of this caller.

        Returns when the server has taken the subscription; raises McpFailure like `in_session`. A
        session that is lost is opened again.
        """
        key = self._sessions.key_of(caller)

        async def within(follow: Follow) -> None:
            try:
                await self._work(key, follow, reviewed=reviewed)
            except McpFailure as error:
                self._last_error = str(error)
                raise

        await self._watches.begin(uri, watch, within)

    async def forget(self, caller: Caller) -> None:
        """Close the session of a caller who has left."""
        await self._sessions.forget(caller)

    async def close(self) -> None:
        """Close every session."""
        await self._watches.close()
        await self._sessions.close()

    async def _call(
        self,
        key: Key,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressReporter | None,
        judged: Judged | None,
        asker: Asker | None,
    ) -> dict[str, Any]:
        # A server may ask when its session begins, too.
        with self._sessions.calls_in(key).open(asker):
            return await self._call_in(key, name, arguments, progress, judged, asker)

    async def _call_in(
        self,
        key: Key,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressReporter | None,
        judged: Judged | None,
        asker: Asker | None,
    ) -> dict[str, Any]:
        async with self._sessions.use(key) as connection:
            if judged is not None:
                sandbox = self._sessions.sandbox_of(key)
                if sandbox is not None:
                    sandbox.require_within(judged.confinement)
                await self._require_as_judged(connection, name, judged)
            try:
                return await connection.call_tool(name, arguments, progress=progress, asker=asker)
            except NotSent as error:
                connection.lost(str(error))
                raise _SessionGone(str(error)) from error

    async def _require_as_judged(self, connection: Connection, name: str, judged: Judged) -> None:
        seconds, server = self.server.listing, self.server.name
        try:
            async with asyncio.timeout(seconds):
                same = await is_as_judged(
                    connection, server, name, judged, listed=self._listed_about
                )
        except TimeoutError:
            why = f"the server has not listed its tools within {seconds:g} seconds"
            connection.lost(why)
            raise NotSent(why) from None
        except McpFailure as error:
            raise NotSent(f"its tools are not known: {error}") from error
        if not same:
            if self._changed is not None:
                self._changed()  # what is registered may have changed, too
            raise Redefined(f"the tool `{name}` is not the one that was listed")
