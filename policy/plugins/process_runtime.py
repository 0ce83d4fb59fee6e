"""Runs a plugin that is a program: confined, spoken to by JSON-RPC, a process for each session.

Calls of one session whose rules let it touch different things have processes of their own, too: a
process that has started cannot be confined again. Methods that the program answers: `initialize`
with the tools that it has, and `call`. It may be told `cancel` of a call that nobody waits for.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from policy.capabilities import PluginManifest, PluginRefused
from policy.generation import SecretUnreadable, Value, read_values
from policy.model import Bound, Caller, Confinement, SandboxTier
from policy.plugins.confining import PluginSandbox
from policy.plugins.connections import CallConnections, ProcessConnections
from policy.plugins.json_rpc import ErrorAnswer, JsonRpcClient, NoAnswer
from policy.plugins.runtime import PluginFailed, PluginUnreachable
from policy.processes import (
    ChildProcess,
    DemandPool,
    Launcher,
    Lost,
    OnDemand,
    Open,
    ProgramToStart,
    RestartLimits,
    Unavailable,
    named_environment,
)
from policy.runtime import after_waiting
from policy.sandbox import (
    CannotConfine,
    ConfinedProgram,
    Connect,
    SandboxDenial,
    SandboxMissing,
    SandboxPlan,
)
from policy.tools import CALL_VARIABLE, ExecutionContext

_LOG = logging.getLogger(__name__)
PROTOCOL = 1
_MOST_SESSIONS = 32
_LIMITS = RestartLimits(handshake=10.0)
_SUBJECT = "this plugin"


@dataclass(frozen=True, slots=True)
class _Key:
    """What the calls of one process have in common; so do they the state that it keeps.

    `caller` is who calls, `connects` what the rules let it connect to, where it may at all.
    """

    caller: tuple[object, ...]
    plan: SandboxPlan
    connects: Bound | None = None


class LauncherFor(Protocol):
    """Returns what starts a program by a plan, and connects it where its network is `hosts`."""

    async def __call__(self, plan: SandboxPlan, connect: Connect) -> Launcher:
        """Return the launcher."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginProgram:
    """How a plugin's program is started. `env` is what it gets beside the usual variables."""

    command: tuple[str, ...]
    folder: str
    env: Mapping[str, Value]


class _Process:
    """One process: what opens it, whom it is connected as, and whose turn it is.

    `unconfined` is why it could not be confined when it was to be started last, empty if it could.
    """

    def __init__(self, open: Open[_Running], limits: RestartLimits) -> None:
        self.demand = OnDemand(self._opener(open), limits=limits)
        self.connections = ProcessConnections()
        self.unconfined = ""
        # A connection has to belong to a call, so that there is one at a time.
        self.turn = asyncio.Lock()

    def _opener(self, open: Open[_Running]) -> Open[_Running]:
        @asynccontextmanager
        async def opened(lost: Lost) -> AsyncIterator[_Running]:
            self.unconfined = ""
            try:
                async with open(lost) as running:
                    yield running
            except SandboxMissing as error:
                self.unconfined = str(error)
                raise Unavailable(self.unconfined) from error

        return opened


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    client: JsonRpcClient
    child: ChildProcess

    def denial(self, said: str, refused: tuple[str, ...]) -> SandboxDenial | None:
        """Return why a call has failed by the sandbox, from what the program says."""
        program = self.child.program
        if not isinstance(program, ConfinedProgram):
            return None
        status = program.returncode or 1
        return program.denial(status, said, refused=refused, subject=_SUBJECT)


class ProcessPlugin:
    """The processes of one plugin, each started by the first call that needs it."""

    def __init__(
        self,
        manifest: PluginManifest,
        program: PluginProgram,
        *,
        sandbox: PluginSandbox,
        launcher_for: LauncherFor,
        limits: RestartLimits = _LIMITS,
    ) -> None:
        self._manifest = manifest
        self._program = program
        self._sandbox = sandbox
        self._launcher_for = launcher_for
        self._limits = limits
        self._pool: DemandPool[_Key, _Process] = DemandPool(self._process, most=_MOST_SESSIONS)

    @property
    def tier(self) -> SandboxTier:
        """The sandbox that its processes run in."""
        return self._sandbox.tier

    @property
    def env(self) -> Mapping[str, Value]:
        """The variables that it gets."""
        return self._program.env

    async def check(self) -> None:
        """Start the program once; raise PluginRefused if it cannot be used."""
        try:
            process = self._process(_Key((), self._sandbox.plan(None)))
        except CannotConfine as error:
            raise PluginRefused(str(error)) from error
        try:
            async with process.demand.use():
                pass
        except Unavailable as error:
            raise PluginRefused(str(error)) from error
        finally:
            await process.demand.close()

    async def call(self, tool: str, input: Mapping[str, Any], ctx: ExecutionContext) -> Any:
        """Return what a tool returns; raise PluginFailed, PluginUnreachable or SandboxMissing."""
        confinement = None if ctx.decision is None else ctx.decision.confinement
        params = {"tool": tool, "input": input, "call": ctx.call_id}
        process: _Process | None = None
        try:
            key = await self._key_of(ctx.caller, confinement)
            connections = self._sandbox.connections(key.plan.network)
            process = self._pool.of(key)
            async with process.demand.use() as running:
                if key.plan.network != "hosts":
                    await after_waiting()  # for the process to start
                    return await _answer(running, params, connections)
                async with process.turn:
                    await after_waiting()
                    with process.connections.of(connections):
                        return await _answer(running, params, connections)
        except CannotConfine as error:
            raise self._missing(str(error), for_caller=error.for_caller) from error
        except Unavailable as error:
            if process is not None and process.unconfined:
                raise self._missing(process.unconfined) from error
            raise PluginUnreachable(f"it was not called: {error}") from error

    def _missing(self, why: str, *, for_caller: bool = False) -> SandboxMissing:
        _LOG.warning("the plugin %s was not called: %s", self._manifest.id, why)
        return SandboxMissing(why, for_caller=for_caller)

    async def end_unused(self) -> None:
        """End every process that no call uses, with all that it has started."""
        await self._pool.end_unused()

    async def close(self) -> None:
        """End every process."""
        await self._pool.close()

    async def _key_of(self, caller: Caller, confinement: Confinement | None) -> _Key:
        plan = await self._sandbox.plan_for(confinement)
        connects = None
        if confinement is not None and plan.network == "hosts":
            connects = confinement.connects
        return _Key(_caller_key(caller), plan, connects)

    def _process(self, key: _Key) -> _Process:
        @asynccontextmanager
        async def opened(lost: Lost) -> AsyncIterator[_Running]:
            launcher = await self._launcher_for(key.plan, process.connections)
            async with self._opened(lost, key.plan, launcher) as running:
                yield running

        process = _Process(opened, self._limits)
        return process

    @asynccontextmanager
    async def _opened(
        self, lost: Lost, plan: SandboxPlan, launcher: Launcher
    ) -> AsyncIterator[_Running]:
        async with ChildProcess(self._to_start(), launcher=launcher) as child:
            client = JsonRpcClient(child, lost)
            reading = asyncio.create_task(client.read())
            try:
                await self._require_same_tools(client, plan)
                yield _Running(client=client, child=child)
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading
                if client.failed:
                    await child.stop(at_once=True)

    def _to_start(self) -> ProgramToStart:
        """Return the program with its environment; raise Unavailable for a missing secret."""
        try:
            env = read_values(self._program.env)
        except SecretUnreadable as error:
            raise Unavailable(str(error)) from error
        marked = {CALL_VARIABLE: f"ext {self._manifest.id}"}
        return ProgramToStart(
            arguments=self._program.command,
            env=named_environment(more={**env, **marked}),
            folder=self._program.folder,
        )

    async def _require_same_tools(self, client: JsonRpcClient, plan: SandboxPlan) -> None:
        """Raise Unavailable unless the program has the tools of its manifest."""
        names = sorted(one.name for one in self._manifest.tools)
        params = {
            "protocol": PROTOCOL,
            "plugin": self._manifest.id,
            "tools": names,
            "access": self._access(plan),
        }
        try:
            answer = await client.request("initialize", params)
        except (NoAnswer, ErrorAnswer) as error:
            raise Unavailable(f"it does not start: {error}") from error
        if not isinstance(answer, dict) or answer.get("protocol") != PROTOCOL:
            raise Unavailable(f"it does not speak version {PROTOCOL} of the protocol")
        listed = answer.get("tools")
        declared = {one.name: one.input_schema for one in self._manifest.tools}
        if listed != declared:
            raise Unavailable(_difference(listed, declared))

    def _access(self, plan: SandboxPlan) -> dict[str, Any]:
        """Return what the plugin may touch, with the paths that it finds it at."""
        own = os.path.realpath(self._program.folder)
        return {
            "reads": [path for path in plan.reads if path != own],
            "writes": list(plan.writes),
            "network": plan.network,
            "connects": list(self._sandbox.access.reach.connects),
        }


async def _answer(
    running: _Running, params: Mapping[str, Any], connections: CallConnections
) -> Any:
    client, refused = running.client, connections.refused
    try:
        return await client.request("call", params)
    except NoAnswer as error:
        denial = running.denial(running.child.errors(), tuple(refused))
        why = f"the call may have run, but it did not answer: {error}"
        raise PluginUnreachable(why, denial=denial) from error
    except ErrorAnswer as error:
        raise PluginFailed(str(error), denial=running.denial(error.text, tuple(refused))) from error


def _difference(listed: Any, declared: Mapping[str, Any]) -> str:
    if not isinstance(listed, dict):
        return "it does not list its tools with their input schemas"
    missing = sorted(declared.keys() - listed.keys())
    if missing:
        return f"its program lacks the tool `{missing[0]}` of its manifest"
    if listed.keys() - declared.keys():
        return "its program has tools that are not in its manifest"
    other = next(name for name in sorted(declared) if listed[name] != declared[name])
    return f"the input schema of `{other}` differs between its program and its manifest"


def _caller_key(caller: Caller) -> tuple[object, ...]:
    root = list(caller.chain())[-1]
    return (root.session, caller.user, caller.agent, caller.role, caller.groups, caller.scope)
