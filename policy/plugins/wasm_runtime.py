"""Runs a plugin that is a WebAssembly module, by the contract of Extism.

https://extism.org/docs/concepts/plug-in: a tool is an exported function that reads its input and
writes its output, both JSON. Each call has an instance of its own, so that no call finds what an
earlier one has left in memory.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from typing import Any

from policy.capabilities import PluginManifest, PluginRefused
from policy.diagnostics import visible
from policy.generation import Reach
from policy.plugins.runtime import PluginFailed
from policy.runtime import Threads
from policy.tools import ExecutionContext
from policy.values import Unreadable, read_plain_json

_THREADS = Threads("plugins in WebAssembly", most=16)
_PAGE = 65_536  # bytes
_MEMORY = 64 * 1024 * 1024  # bytes, where the configuration does not say
_LONGEST = 1024 * 1024  # bytes of an output
_QUOTED = 300  # characters of an error
_MISSING = "plugins in WebAssembly need the extra `wasm`: pip install 'placet[wasm]'"


class WasmPlugin:
    """One module. Each call that runs at the same time has a compiled copy of its own.

    Extism ends a call by ending every call of the same compiled module.
    """

    def __init__(self, manifest: PluginManifest, module: bytes, *, reach: Reach, fuel: int) -> None:
        self._manifest = manifest
        self._module = module
        self._reach = reach
        self._fuel = fuel
        self._idle: list[Any] = []

    async def check(self) -> None:
        """Compile the module; raise PluginRefused if it is none, or lacks a tool."""
        await _THREADS.run(self._check)

    async def call(self, tool: str, input: Mapping[str, Any], ctx: ExecutionContext) -> Any:
        """Return what a tool returns; raise PluginFailed."""
        running = _Call(tool, json.dumps(input).encode())
        try:
            output = await _THREADS.run(self._run, running)
        except asyncio.CancelledError:
            running.cancel()
            raise
        value = read_plain_json(output)
        if isinstance(value, Unreadable):
            raise PluginFailed(f"its output is {value.reason}")
        return value

    async def close(self) -> None:
        """Forget what is compiled; calls that still run keep theirs until they end."""
        self._idle.clear()

    def _run(self, call: _Call) -> bytes:
        try:
            compiled = self._idle.pop()
        except IndexError:
            compiled = self._compile()
        try:
            return call.run(compiled)
        finally:
            if not call.cancelled:
                self._idle.append(compiled)

    def _compile(self) -> Any:
        from policy.plugins.extism_fuel import compiled_with_fuel

        return compiled_with_fuel(self._settings(), fuel=self._fuel)

    def _check(self) -> None:
        try:
            import extism
        except ImportError as error:
            raise PluginRefused(_MISSING) from error
        try:
            compiled = self._compile()
            instance = extism.Plugin(compiled)
        except extism.Error as error:
            raise PluginRefused(f"the module cannot be used: {_text_of(error)}") from error
        for one in self._manifest.tools:
            if not instance.function_exists(one.name):
                raise PluginRefused(f"the module exports no function `{one.name}`")
        self._idle.append(compiled)

    def _settings(self) -> dict[str, Any]:
        """Return the manifest of Extism: the module, and all that it may touch."""
        paths = {f"ro:{path}": path for path in self._reach.reads}
        paths |= {path: path for path in self._reach.writes}
        pages = max(1, (self._reach.limits.memory or _MEMORY) // _PAGE)
        return {
            "wasm": [{"data": self._module}],
            "memory": {"max_pages": pages, "max_var_bytes": 0},
            "allowed_hosts": ["*"] if self._reach.network == "all" else [],
            "allowed_paths": paths,
        }


class _Call:
    """One call in a thread, which another thread may cancel."""

    def __init__(self, tool: str, input: bytes) -> None:
        self._tool = tool
        self._input = input
        self._handle: Any = None
        self._changing = threading.Lock()
        self.cancelled = False

    def run(self, compiled: Any) -> bytes:
        """Return the output of an instance of a compiled module; raise PluginFailed."""
        import extism

        with extism.Plugin(compiled) as instance:
            with self._changing:
                if self.cancelled:
                    raise PluginFailed("the call was cancelled")
                self._handle = instance.cancel_handle()
            try:
                output = instance.call(self._tool, self._input, parse=None)
                if len(output) > _LONGEST:
                    raise PluginFailed(f"its output has more than {_LONGEST:,} bytes")
                return bytes(output)
            except extism.Error as error:
                raise PluginFailed(_text_of(error)) from error
            finally:
                with self._changing:
                    self._handle = None  # it points into the instance

    def cancel(self) -> None:
        """Stop the module, wherever it is."""
        with self._changing:
            self.cancelled = True
            if self._handle is not None:
                self._handle.cancel()


def _text_of(error: Exception) -> str:
    return visible(" ".join(str(error).split()), _QUOTED)
