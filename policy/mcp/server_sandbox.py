"""`ServerSandbox`: the sandbox of a server that Placet starts, and which calls it is enough for.

A server serves many calls, so that it cannot be confined again for each. A call is sent to it only
if its sandbox is within the bounds that the rules of the call rely on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from policy.diagnostics import visible
from policy.environment import look_up_host
from policy.generation import ConfiningDriver, McpServer, Reach, StdioServer
from policy.model import ConfinedVerb, Confinement, SandboxTier
from policy.processes import LaunchedProgram, Launcher, ProgramToStart
from policy.sandbox import (
    ConfinedLauncher,
    ConfinedProgram,
    ListedHosts,
    ProtectedPaths,
    SandboxDenial,
    SandboxPlan,
    SandboxTooWide,
    driver_named,
    exceeded_verb,
    name_in_use,
    plan_of,
)

_LOG = logging.getLogger(__name__)
_SUBJECT = "this server"
# Returns what is kept from all code by the policy in force.
Protected: TypeAlias = Callable[[], ProtectedPaths]
NOTHING_PROTECTED: Protected = ProtectedPaths


def tier_of_server(server: McpServer) -> SandboxTier | None:
    """Return the sandbox that all code of a server runs in, None if it has none."""
    transport = server.transport
    if not isinstance(transport, StdioServer) or transport.reach is None:
        return None
    verbs: set[ConfinedVerb] = {"reads", "writes"}
    if transport.reach.network != "all":
        verbs.add("connects")
    return SandboxTier(name=_name_of(transport.reach.driver), enforces=frozenset(verbs))


@cache
def _name_of(driver: ConfiningDriver) -> str:
    """Return the name of the driver that runs; the best one is tried once."""
    return name_in_use(driver)


class ServerSandbox:
    """What one session's process of a server may touch, as it was when that was started.

    `protected` returns the paths that are kept from it.
    """

    def __init__(
        self, server: str, transport: StdioServer, reach: Reach, *, protected: Protected
    ) -> None:
        self._server = server
        self._protected = protected
        self._reach = reach
        self._home = os.path.expanduser("~")
        self._folder = transport.folder or self._home
        self._own = () if transport.folder is None else (transport.folder,)
        self._plan: SandboxPlan | None = None
        self._program: LaunchedProgram | None = None

    def launcher(self, launcher: Launcher | None) -> Launcher:
        """Return what starts the server confined, by another launcher."""
        connect = ListedHosts(self._reach.connects, look_up_host)
        return ConfinedLauncher(
            driver_named(self._reach.driver),
            self._planned,
            launcher=launcher,
            connect_for=lambda program: connect,
        )

    def started(self, program: LaunchedProgram) -> None:
        """Note the program that runs now."""
        self._program = program

    def require_within(self, confinement: Confinement | None) -> None:
        """Raise SandboxTooWide if the server may exceed a bound that rules rely on."""
        if confinement is None or not confinement.relied_on:
            return
        verb = (
            confinement.relied_on[0]
            if self._plan is None
            else exceeded_verb(
                self._plan, self._reach.connects, confinement, writable=self._writable()
            )
        )
        if verb is not None:
            _LOG.warning(
                "the server %s was not called: rules bound what the call %s, and its sandbox does "
                "not; narrow [mcp.servers.%s.sandbox], or keep what rules deny out of its folders",
                self._server,
                verb,
                self._server,
            )
            raise SandboxTooWide(verb)

    def denial(self, said: str) -> SandboxDenial | None:
        """Return why a call has failed by the sandbox, from what the server says."""
        if not isinstance(self._program, ConfinedProgram):
            return None
        status = self._program.returncode or 1
        # Which call a connection was for is not known: only what the server says of it counts.
        return self._program.denial(status, said, refused=(), subject=_SUBJECT)

    def _writable(self) -> tuple[str, ...]:
        protected = self._protected()
        return (*protected.writable, *protected.private)

    def _planned(self, program: ProgramToStart) -> SandboxPlan:
        reach = replace(self._reach, reads=(*self._reach.reads, *self._own))
        protected = self._protected()
        self._plan = plan_of(
            reach,
            folder=self._folder,
            home=self._home,
            workspace=None,
            kept=protected.files,
            private=protected.private,
            writable=protected.writable,
        )
        return self._plan


def sandbox_for(server: McpServer, protected: Protected) -> ServerSandbox | None:
    """Return the sandbox of a session with a server, None if it has none."""
    transport = server.transport
    if not isinstance(transport, StdioServer) or transport.reach is None:
        return None
    return ServerSandbox(visible(server.name, 80), transport, transport.reach, protected=protected)
