"""`McpClient`: one MCP server, with as many sessions as the isolation of its callers takes.

A session is opened by the first call that needs it, closed when nobody uses it, and opened again
when it is lost. A call that may have reached the server is never sent again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from policy.generation import McpServer, ServerTransport, StdioServer
from policy.mcp.errors import McpFailure, NotSent, Redefined
from policy.mcp.judged import Judged, Said, is_as_judged, said_in
from policy.mcp.listed_tool import Era, ListedTool
from policy.mcp.open_calls import Asker, OpenCalls
from policy.model import Caller
from policy.processes import Launcher, OnDemand, Open, RestartLimits, Unavailable
from policy.tools import ProgressReporter

if TYPE_CHECKING:
    from policy.mcp.connection import Connection
    from policy.mcp.offered import Announced, Entries, Offered

_NOBODY = Caller()
T = TypeVar("T")
# Identifies the callers that share a session; None: the session that lists the tools.
_Key: TypeAlias = tuple[object, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """A session that is opened when it is needed, and the calls that run in it."""

    demand: OnDemand[Connection]
    calls: OpenCalls


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
    for resources and prompts.
    """

    def __init__(
        self,
        server: McpServer,
        *,
        launcher: Launcher | None = None,
        restarts: RestartLimits | None = None,
        changed: Callable[[], None] | None = None,
        offers_changed: Announced | None = None,
    ) -> None:
        self.server = server
        self.tools: tuple[ListedTool, ...] = ()
        self.instructions: str | None = None
        self.server_version = ""
        self._listed_about: Said | None = None
        self._announces = False
        self._launcher = launcher
        self._restarts = replace(
            restarts or RestartLimits(), handshake=server.start, idle=server.idle
        )
        self._changed = changed
        self._offers_changed = offers_changed
        self._tokens: Any = None  # made when it connects, like all that needs the SDK
        self._sessions: OrderedDict[_Key, _Session] = OrderedDict()
        self._leaving: set[asyncio.Task[None]] = set()
        self._agreed: tuple[Era, str] | None = None
        self._last_error = ""
        self._closed = False

    @property
    def transport(self) -> ServerTransport:
        """How the server is reached."""
        return self.server.transport

    @property
    def status(self) -> ServerStatus:
        """How the server is."""
        demands = [each.demand for each in self._sessions.values()]
        open = [each for each in demands if each.state == "open"]
        failed = any(each.state == "failed" for each in demands)
        era, version = self._agreed or (None, None)
        return ServerStatus(
            state="open" if open else "failed" if failed else "closed",
            sessions=len(open),
            era=era,
            protocol_version=version,
            last_error=self._last_error,
        )

    async def list_tools(self) -> tuple[ListedTool, ...]:
        """Ask the server for its tools, within its time limit, and keep them in `tools`.

        Raises McpFailure; then `tools` are those of the last time.
        """
        seconds = self.server.listing
        try:
            async with self._session(None) as connection:
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
        the server needs meanwhile. Raises Redefined if that differs in this session, NotSent if the
        call has certainly not run, Uncertain if it may have, and ProtocolError if the server
        answered with an error of the protocol.
        """
        key = self._key(caller)
        try:
            try:
                return await self._call(key, name, arguments, progress, judged, asker)
            except _SessionGone:
                return await self._call(key, name, arguments, progress, judged, asker)
        except McpFailure as error:
            self._last_error = str(error)
            raise

    async def in_session(
        self, caller: Caller, work: Callable[[Connection], Awaitable[T]], *, reviewed: bool = False
    ) -> T:
        """Return what `work` does in the session of this caller; raise McpFailure like a call.

        A `reviewed` server must say of itself here what it said when its tools were listed; if it
        does not, Redefined is raised, and nothing is done.
        """
        key = self._key(caller)
        try:
            try:
                return await self._work(key, work, reviewed=reviewed)
            except _SessionGone:
                return await self._work(key, work, reviewed=reviewed)
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
        self, key: _Key, work: Callable[[Connection], Awaitable[T]], *, reviewed: bool
    ) -> T:
        async with self._session(key) as connection:
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
        async with self._session(None):
            await changed.wait()

    async def check(self) -> bool:
        """Return whether the server answers in the session that lists its tools."""
        try:
            async with self._session(None) as connection:
                return await connection.check()
        except McpFailure as error:
            self._last_error = str(error)
            return False

    async def forget(self, caller: Caller) -> None:
        """Close the session of a caller who has left."""
        key = self._key(caller)
        session = self._sessions.pop(key, None) if key is not None else None
        if session is not None:
            await session.demand.close()

    async def close(self) -> None:
        """Close every session."""
        self._closed = True
        demands = [each.demand for each in self._sessions.values()]
        await asyncio.gather(*(each.close() for each in demands), *self._leaving)

    async def _call(
        self,
        key: _Key,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressReporter | None,
        judged: Judged | None,
        asker: Asker | None,
    ) -> dict[str, Any]:
        # A server may ask when its session begins, too.
        with self._session_of(key).calls.open(asker):
            return await self._call_in(key, name, arguments, progress, judged, asker)

    async def _call_in(
        self,
        key: _Key,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressReporter | None,
        judged: Judged | None,
        asker: Asker | None,
    ) -> dict[str, Any]:
        async with self._session(key) as connection:
            if judged is not None:
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

    @asynccontextmanager
    async def _session(self, key: _Key) -> AsyncIterator[Connection]:
        """Open or find a session; raise NotSent if there can be none now."""
        try:
            async with self._session_of(key).demand.use() as connection:
                self._agreed = (connection.era, connection.protocol_version)
                yield connection
        except Unavailable as error:
            raise NotSent(str(error)) from error

    def _session_of(self, key: _Key) -> _Session:
        if self._closed:
            raise NotSent("the server is not used any more")
        session = self._sessions.get(key)
        if session is None:
            self._make_room()
            calls = OpenCalls()
            demand = OnDemand(self._opener(key, calls), limits=self._restarts)
            session = self._sessions[key] = _Session(demand=demand, calls=calls)
        self._sessions.move_to_end(key)
        return session

    def _opener(self, key: _Key, calls: OpenCalls) -> Open[Connection]:
        # The SDK takes most of a second to import, and only those who connect need it.
        from policy.mcp.connection import connected
        from policy.mcp.http import OAuthTokens

        self._tokens = self._tokens or OAuthTokens()

        def open(lost: Callable[[str], None]) -> Any:
            lists = key is None and self._changed is not None
            # A program of its own may change by itself; other servers tell the session that lists.
            alone = isinstance(self.transport, StdioServer)

            def gone(why: str) -> None:
                lost(why)
                if lists and self._changed is not None:
                    self._changed()  # what the server has announced meanwhile is not known

            return connected(
                self.server,
                lost=gone,
                launcher=self._launcher,
                tokens=self._tokens,
                changed=self._changed,
                offers_changed=self._offers_changed,
                listening=lists or alone,
                calls=calls,
            )

        return open

    def _make_room(self) -> None:
        """Close the session that was used longest ago; raise NotSent if all are in use."""
        if len(self._sessions) < self.server.sessions:
            return
        for key, session in self._sessions.items():
            if not session.demand.users:
                del self._sessions[key]
                closing = asyncio.ensure_future(session.demand.close())
                self._leaving.add(closing)
                closing.add_done_callback(self._leaving.discard)
                return
        raise NotSent(f"all {self.server.sessions} sessions with the server are in use")

    def _key(self, caller: Caller) -> _Key:
        """Return what the callers of one session have in common."""
        who = (caller.user, caller.agent, caller.role, caller.groups, caller.scope)
        match self.server.isolation:
            case "shared":
                return None
            case "caller" if caller.user is not None:
                return who
            case _:
                # Nobody knows whether two callers without a user are the same one.
                return (caller.session, *who)
