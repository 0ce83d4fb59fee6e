"""Runs a plugin that is a program: one process for each session, confined, spoken to by JSON-RPC.

Methods that the program answers: `initialize` with the tools that it has, and `call`. It may be
told `cancel` of a call that nobody waits for any more.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.capabilities import PluginManifest, PluginRefused
from policy.generation import Reach
from policy.model import Caller
from policy.plugins.json_rpc import ErrorAnswer, JsonRpcClient, NoAnswer
from policy.plugins.runtime import PluginFailed, PluginUnreachable
from policy.processes import (
    ChildProcess,
    DemandPool,
    Launcher,
    Lost,
    OnDemand,
    ProgramToStart,
    RestartLimits,
    Unavailable,
    named_environment,
)
from policy.tools import CALL_VARIABLE, ExecutionContext

PROTOCOL = 1
_MOST_SESSIONS = 16
_LIMITS = RestartLimits(handshake=10.0)

# Callers of one key share a process, and so whatever state it keeps.
_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Process:
    demand: OnDemand[JsonRpcClient]


class ProcessPlugin:
    """The processes of one plugin, each started by the first call that needs it."""

    def __init__(
        self,
        manifest: PluginManifest,
        command: tuple[str, ...],
        *,
        folder: str,
        reach: Reach,
        launcher: Launcher,
        limits: RestartLimits = _LIMITS,
    ) -> None:
        self._manifest = manifest
        self._program = ProgramToStart(
            arguments=command,
            env=named_environment(more={CALL_VARIABLE: f"ext {manifest.id}"}),
            folder=folder,
        )
        self._reach = reach
        self._launcher = launcher
        self._limits = limits
        self._pool: DemandPool[_Key, _Process] = DemandPool(self._process, most=_MOST_SESSIONS)

    async def check(self) -> None:
        """Start the program once; raise PluginRefused if it cannot be used."""
        process = self._process(())
        try:
            async with process.demand.use():
                pass
        except Unavailable as error:
            raise PluginRefused(str(error)) from error
        finally:
            await process.demand.close()

    async def call(self, tool: str, input: Mapping[str, Any], ctx: ExecutionContext) -> Any:
        """Return what a tool returns; raise PluginFailed or PluginUnreachable."""
        try:
            async with self._pool.of(_key_of(ctx.caller)).demand.use() as client:
                params = {"tool": tool, "input": input, "call": ctx.call_id}
                return await client.request("call", params)
        except Unavailable as error:
            raise PluginUnreachable(f"it was not called: {error}") from error
        except NoAnswer as error:
            why = f"the call may have run, but it did not answer: {error}"
            raise PluginUnreachable(why) from error
        except ErrorAnswer as error:
            raise PluginFailed(str(error)) from error

    async def close(self) -> None:
        """End every process."""
        await self._pool.close()

    def _process(self, key: _Key) -> _Process:
        return _Process(OnDemand(self._open, limits=self._limits))

    @asynccontextmanager
    async def _open(self, lost: Lost) -> AsyncIterator[JsonRpcClient]:
        async with ChildProcess(self._program, launcher=self._launcher) as child:
            client = JsonRpcClient(child, lost)
            reading = asyncio.create_task(client.read())
            try:
                await self._require_same_tools(client)
                yield client
            finally:
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading
                if client.failed:
                    await child.stop(at_once=True)

    async def _require_same_tools(self, client: JsonRpcClient) -> None:
        """Raise Unavailable unless the program has the tools of its manifest."""
        names = sorted(one.name for one in self._manifest.tools)
        params = {
            "protocol": PROTOCOL,
            "plugin": self._manifest.id,
            "tools": names,
            "access": _access(self._reach),
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


def _access(reach: Reach) -> dict[str, Any]:
    """Return what the plugin may touch, with the paths that it finds it at."""
    return {
        "reads": [os.path.expanduser(path) for path in reach.reads],
        "writes": [os.path.expanduser(path) for path in reach.writes],
        "network": reach.network,
    }


def _key_of(caller: Caller) -> _Key:
    root = list(caller.chain())[-1]
    return (root.session, caller.user, caller.agent, caller.role, caller.groups, caller.scope)
