"""`Sessions`: the sessions with one server, as many as the isolation of its callers takes.

A session is opened by the first call that needs it, closed when nobody uses it, and opened again
when it is lost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from policy.generation import McpServer, StdioServer
from policy.mcp.errors import NotSent
from policy.mcp.listed_tool import Era
from policy.mcp.open_calls import OpenCalls
from policy.mcp.server_sandbox import Protected, ServerSandbox, sandbox_for
from policy.model import Caller
from policy.processes import DemandPool, Launcher, OnDemand, Open, RestartLimits, Unavailable
from policy.runtime import after_waiting

if TYPE_CHECKING:
    from policy.mcp.connection import Connection
    from policy.mcp.offered import Announced

# Identifies the callers that share a session; None: the session that lists the tools.
Key: TypeAlias = tuple[object, ...] | None


@dataclass(frozen=True, slots=True)
class _Session:
    """A session that is opened when it is needed, the calls that run in it, and its sandbox."""

    demand: OnDemand[Connection]
    calls: OpenCalls
    sandbox: ServerSandbox | None


class Sessions:
    """Finds and opens the session of a caller.

    `changed` is called when the server announces another list of tools in any session, or the
    session that would have heard of it is lost; `offers_changed` is the same for resources and
    prompts.
    """

    def __init__(
        self,
        server: McpServer,
        *,
        launcher: Launcher | None,
        restarts: RestartLimits | None,
        changed: Callable[[], None] | None,
        offers_changed: Announced | None,
        protected: Protected,
    ) -> None:
        self._server = server
        self._protected = protected
        self._launcher = launcher
        self._restarts = replace(
            restarts or RestartLimits(), handshake=server.start, idle=server.idle
        )
        self._changed = changed
        self._offers_changed = offers_changed
        self._tokens: Any = None  # made when it connects, like all that needs the SDK
        self._pool: DemandPool[Key, _Session] = DemandPool(self._session, most=server.sessions)
        # The revision that the last session has agreed on.
        self.agreed: tuple[Era, str] | None = None

    @property
    def states(self) -> tuple[str, ...]:
        """How each session is."""
        return self._pool.states

    def key_of(self, caller: Caller) -> Key:
        """Return what the callers of one session have in common."""
        who = (caller.user, caller.agent, caller.role, caller.groups, caller.scope)
        match self._server.isolation:
            case "shared":
                return None
            case "caller" if caller.user is not None:
                return who
            case _:
                # Nobody knows whether two callers without a user are the same one.
                return (caller.session, *who)

    def calls_in(self, key: Key) -> OpenCalls:
        """Return the calls that run in a session; raise NotSent if there can be none now."""
        return self._of(key).calls

    def sandbox_of(self, key: Key) -> ServerSandbox | None:
        """Return the sandbox of a session; raise NotSent if there can be no session now."""
        return self._of(key).sandbox

    @asynccontextmanager
    async def use(self, key: Key) -> AsyncIterator[Connection]:
        """Open or find a session; raise NotSent if there can be none now."""
        try:
            async with self._of(key).demand.use() as connection:
                await after_waiting()  # for the server to start
                self.agreed = (connection.era, connection.protocol_version)
                yield connection
        except Unavailable as error:
            raise NotSent(str(error)) from error

    async def forget(self, caller: Caller) -> None:
        """Close the session of a caller who has left."""
        key = self.key_of(caller)
        if key is not None:
            await self._pool.forget(key)

    async def close(self) -> None:
        """Close every session."""
        await self._pool.close()

    def _of(self, key: Key) -> _Session:
        try:
            return self._pool.of(key)
        except Unavailable as error:
            raise NotSent(str(error)) from error

    def _session(self, key: Key) -> _Session:
        calls, sandbox = OpenCalls(), sandbox_for(self._server, self._protected)
        opener = self._opener(key, calls, sandbox)
        return _Session(OnDemand(opener, limits=self._restarts), calls, sandbox)

    def _opener(
        self, key: Key, calls: OpenCalls, sandbox: ServerSandbox | None
    ) -> Open[Connection]:
        # The SDK takes most of a second to import, and only those who connect need it.
        from policy.mcp.connecting import connected
        from policy.mcp.http import OAuthTokens

        self._tokens = self._tokens or OAuthTokens()

        def open(lost: Callable[[str], None]) -> Any:
            lists = key is None and self._changed is not None
            # A program of its own may change by itself; other servers tell the session that lists.
            alone = isinstance(self._server.transport, StdioServer)

            def gone(why: str) -> None:
                lost(why)
                if lists and self._changed is not None:
                    self._changed()  # what the server has announced meanwhile is not known

            return connected(
                self._server,
                lost=gone,
                launcher=self._launcher,
                tokens=self._tokens,
                changed=self._changed,
                offers_changed=self._offers_changed,
                listening=lists or alone,
                calls=calls,
                sandbox=sandbox,
            )

        return open
