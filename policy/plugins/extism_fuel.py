"""Compiles a module for Extism with a bound on the instructions of a call.

The C library has a function for it (`extism_compiled_plugin_new_with_fuel_limit`, Extism 1.9), its
Python class has no parameter (1.1.1). So this calls the library as that class does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from extism.extism import CompiledPlugin, Error, _ffi, _lib, _wasm

# What most compilers make needs it. It reaches the mounted paths alone.
_WITH_WASI = True


class _Compiled(CompiledPlugin):  # type: ignore[misc]  # the library has no types
    def __init__(self, settings: Mapping[str, Any], *, fuel: int) -> None:
        wasm = _wasm(dict(settings))
        message = _ffi.new("char**")
        # No functions of the host.
        self.functions: list[Any] = []
        self.pointer = _lib.extism_compiled_plugin_new_with_fuel_limit(
            wasm, len(wasm), _ffi.NULL, 0, _WITH_WASI, fuel, message
        )
        if self.pointer == _ffi.NULL:
            said = _ffi.string(message[0])
            _lib.extism_plugin_new_error_free(message[0])
            raise Error(said.decode(errors="replace"))


def compiled_with_fuel(settings: Mapping[str, Any], *, fuel: int) -> CompiledPlugin:
    """Return a module by Extism's manifest; raise `extism.Error` if it cannot be used."""
    return _Compiled(settings, fuel=fuel)
