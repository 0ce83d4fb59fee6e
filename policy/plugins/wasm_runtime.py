"""Runs a plugin that is a WebAssembly module, by the contract of Extism.

https://extism.org/docs/concepts/plug-in: a tool is an exported function that reads its input and
writes its output, both JSON. Each call has an instance of its own, so that no call finds what an
earlier one has left in memory.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.capabilities import PluginManifest, PluginRefused
from policy.diagnostics import visible
from policy.generation import SecretUnreadable, Value, read_values
from policy.model import EMPTY, SandboxTier
from policy.plugins.confining import PluginSandbox
from policy.plugins.connections import CallConnections
from policy.plugins.held_folders import HeldFolders
from policy.plugins.json_rpc import MOST_VALUES
from policy.plugins.runtime import PluginFailed, PluginUnreachable
from policy.plugins.wasm_http import ModuleHttp
from policy.plugins.wasm_tables import with_bounded_tables
from policy.runtime import Threads
from policy.sandbox import CannotConfine, SandboxMissing, SandboxPlan, denial_of
from policy.tools import ExecutionContext
from policy.values import Unreadable, has_too_many_values, read_plain_json

_LOG = logging.getLogger(__name__)
_THREADS = Threads("plugins in WebAssembly", most=32, fair=True, begins=True)
_PAGE = 65_536  # bytes
_MEMORY = 64 * 1024 * 1024  # bytes, where the configuration does not say
_NO_MEMORY = "it has no memory for the answer of a server"
_LONGEST = 1024 * 1024  # bytes of an output
_QUOTED = 300  # characters of an error
_MOST_PLANS = 16  # of which compiled copies are kept
_MISSING = "plugins in WebAssembly need the extra `wasm`: pip install 'placet[wasm]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    """A folder that a module is handed; by the `prefix` Extism knows whether it may be written."""

    prefix: str
    path: str


_Paths: TypeAlias = tuple[_Folder, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """A module as it is compiled with the folders that it is handed."""

    compiled: Any
    folders: HeldFolders


class WasmPlugin:
    """One module. Each call that runs at the same time has a compiled copy of its own.

    Extism ends a call by ending every call of the same compiled module. Which paths a module
    reaches is compiled with it, so that calls with other bounds have other copies, too.
    """

    def __init__(
        self,
        manifest: PluginManifest,
        module: bytes,
        *,
        sandbox: PluginSandbox,
        fuel: int,
        env: Mapping[str, Value] = EMPTY,
    ) -> None:
        self._manifest = manifest
        self._module = module
        self._sandbox = sandbox
        self._fuel = fuel
        self._env = env
        self._idle: OrderedDict[_Paths, list[_Copy]] = OrderedDict()
        self._changing = threading.Lock()

    @property
    def tier(self) -> SandboxTier:
        """The sandbox that it runs in."""
        return self._sandbox.tier

    @property
    def env(self) -> Mapping[str, Value]:
        """The variables that it gets."""
        return self._env

    async def check(self) -> None:
        """Compile the module; raise PluginRefused if it is none, or lacks a tool."""
        try:
            read_values(self._env)
            paths = _paths_of(self._sandbox.plan(None))
        except (CannotConfine, SecretUnreadable) as error:
            raise PluginRefused(str(error)) from error
        await _THREADS.run(self._check, paths)

    async def call(self, tool: str, input: Mapping[str, Any], ctx: ExecutionContext) -> Any:
        """Return what a tool returns; raise PluginFailed, PluginUnreachable or SandboxMissing."""
        confinement = None if ctx.decision is None else ctx.decision.confinement
        try:
            plan = await self._sandbox.plan_for(confinement)
            paths, config = _paths_of(plan), read_values(self._env)
        except CannotConfine as error:
            raise self._missing(error) from error
        except SecretUnreadable as error:
            raise PluginUnreachable(f"it was not called: {error}") from error
        connections = self._sandbox.connections(plan.network)
        running = _Call(tool, json.dumps(input).encode(), config, connections)
        try:
            output = await _THREADS.run(self._run, running, paths)
        except asyncio.CancelledError:
            running.cancel()
            raise
        except CannotConfine as error:
            raise self._missing(error) from error
        except PluginFailed as error:
            denial = denial_of(
                plan,
                tier=self.tier.name,
                closed=(),
                status=1,
                errors=str(error),
                refused=tuple(connections.refused),
                subject="this plugin",
            )
            raise PluginFailed(str(error), denial=denial) from error
        if has_too_many_values(output, MOST_VALUES):
            raise PluginFailed(f"its output has more than {MOST_VALUES:,} values")
        value = read_plain_json(output)
        if isinstance(value, Unreadable):
            raise PluginFailed(f"its output is {value.reason}")
        return value

    def _missing(self, error: CannotConfine) -> SandboxMissing:
        _LOG.warning("the plugin %s was not called: %s", self._manifest.id, error)
        return SandboxMissing(str(error), for_caller=error.for_caller)

    async def end_unused(self) -> None:
        """Do nothing: a module runs only while it is called."""

    async def close(self) -> None:
        """Forget what is compiled; calls that still run keep theirs until they end."""
        with self._changing:
            self._idle.clear()

    def _run(self, call: _Call, paths: _Paths) -> bytes:
        copy = self._taken(paths) or self._compile(paths)
        try:
            return call.run(copy.compiled)
        finally:
            if not call.cancelled:
                self._put_back(paths, copy)

    def _taken(self, paths: _Paths) -> _Copy | None:
        """Return a compiled copy that no call uses, None if there is none; raise CannotConfine."""
        with self._changing:
            idle = self._idle.get(paths)
            copy = idle.pop() if idle else None
        return copy if copy is not None and copy.folders.are_there() else None

    def _put_back(self, paths: _Paths, copy: _Copy) -> None:
        with self._changing:
            self._idle.setdefault(paths, []).append(copy)
            self._idle.move_to_end(paths)
            while len(self._idle) > _MOST_PLANS:
                self._idle.popitem(last=False)

    def _compile(self, paths: _Paths) -> _Copy:
        from policy.plugins.extism_module import compiled_module

        folders = HeldFolders(one.path for one in paths)
        handed = {f"{one.prefix}{folders.name_of(one.path)}": one.path for one in paths}
        compiled = compiled_module(self._settings(handed), fuel=self._fuel)
        return _Copy(compiled=compiled, folders=folders)

    def _check(self, paths: _Paths) -> None:
        try:
            import extism
        except ImportError as error:
            raise PluginRefused(_MISSING) from error
        try:
            copy = self._compile(paths)
            instance = extism.Plugin(copy.compiled)
        except CannotConfine as error:
            raise PluginRefused(str(error)) from error
        except extism.Error as error:
            raise PluginRefused(f"the module cannot be used: {_text_of(error)}") from error
        for one in self._manifest.tools:
            if not instance.function_exists(one.name):
                raise PluginRefused(f"the module exports no function `{one.name}`")
        self._put_back(paths, copy)

    def _settings(self, handed: Mapping[str, str]) -> dict[str, Any]:
        """Return the manifest of Extism: the module, and all that it may touch.

        `handed` are folders as Extism opens them, each with the path by which the module knows it.
        """
        memory = self._sandbox.access.reach.limits.memory or _MEMORY
        return {
            "wasm": [{"data": with_bounded_tables(self._module)}],
            "memory": {"max_pages": max(1, memory // _PAGE), "max_var_bytes": 0},
            # Requests are made by functions of ours.
            "allowed_hosts": [],
            "allowed_paths": dict(handed),
        }


def _paths_of(plan: SandboxPlan) -> _Paths:
    """Return a plan's folders as Extism mounts them; raise CannotConfine where it cannot."""
    inside = (*plan.masked, *plan.kept)
    if inside:
        raise CannotConfine(
            f"a module cannot be kept from {inside[0]}, in a folder that it may read or write"
        )
    file = next((path for path in (*plan.reads, *plan.writes) if not os.path.isdir(path)), None)
    if file is not None:
        raise CannotConfine(f"a module is handed whole folders, and {file} is none")
    reads = (_Folder(prefix="ro:", path=path) for path in plan.reads)
    return (*reads, *(_Folder(prefix="", path=path) for path in plan.writes))


class _Call:
    """One call in a thread, which another thread may cancel."""

    def __init__(
        self,
        tool: str,
        input: bytes,
        config: Mapping[str, str],
        connections: CallConnections,
    ) -> None:
        self._tool = tool
        self._input = input
        self._config = config
        self._http = ModuleHttp(connections, end=self._end)
        self._handle: Any = None
        self._changing = threading.Lock()
        self.cancelled = False

    def run(self, compiled: Any) -> bytes:
        """Return the output of an instance of a compiled module; raise PluginFailed."""
        import extism

        with extism.Plugin(compiled, config=dict(self._config)) as instance:
            with self._changing:
                if self.cancelled:
                    raise PluginFailed("the call was cancelled")
                self._handle = instance.cancel_handle()
            try:
                output = instance.call(self._tool, self._input, parse=None, host_context=self._http)
                # A module may end by itself before it is ended.
                if self._http.exhausted:
                    raise PluginFailed(_NO_MEMORY)
                if len(output) > _LONGEST:
                    raise PluginFailed(f"its output has more than {_LONGEST:,} bytes")
                return bytes(output)
            except extism.Error as error:
                why = _NO_MEMORY if self._http.exhausted else _text_of(error)
                raise PluginFailed(why) from error
            finally:
                with self._changing:
                    self._handle = None  # it points into the instance

    def cancel(self) -> None:
        """Stop the module, wherever it is."""
        self.cancelled = True
        self._http.cancel()
        self._end()

    def _end(self) -> None:
        with self._changing:
            if self._handle is not None:
                self._handle.cancel()


def _text_of(error: Exception) -> str:
    return visible(" ".join(str(error).split()), _QUOTED)
