"""Compiles a module for Extism, with what its Python class (1.1.1) has no parameter for.

That is a bound on the instructions of a call, for which the C library has a function
(`extism_compiled_plugin_new_with_fuel_limit`, Extism 1.9), and functions of the host by their place
in Extism's own namespace: its HTTP functions are replaced there by those of the running call. So
this calls the library as that class does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from extism.extism import CompiledPlugin, CurrentPlugin, Error, Val, ValType, _ffi, _lib, _wasm

_LOG = logging.getLogger(__name__)
# What most compilers make needs it. It reaches the mounted paths alone.
_WITH_WASI = True
_NAMESPACE = b"extism:host/env"
_SIGNATURE = (
    "void(ExtismCurrentPlugin*, const ExtismVal*, ExtismSize, ExtismVal*, ExtismSize, void*)"
)


class HttpFunctions(Protocol):
    """What a running call answers its module, by the contract of Extism.

    It is the host context of the call. The functions block, and raise nothing.
    """

    def http_request(self, request: bytes, body: bytes) -> bytes:
        """Return the body of the answer to a request, which is JSON."""
        ...

    def http_status_code(self) -> int:
        """Return the status of the last answer."""
        ...

    def http_headers(self) -> bytes:
        """Return the headers of the last answer, as a JSON object."""
        ...

    def out_of_memory(self) -> None:
        """End the call: the module has no memory for an answer."""
        ...


def _request(plugin: CurrentPlugin, call: HttpFunctions, inputs: Any) -> int:
    request, body = (_bytes_at(plugin, inputs[at].v.i64) for at in range(2))
    return _returned(plugin, call, call.http_request(request, body))


def _status(plugin: CurrentPlugin, call: HttpFunctions, inputs: Any) -> int:
    return call.http_status_code()


def _headers(plugin: CurrentPlugin, call: HttpFunctions, inputs: Any) -> int:
    return _returned(plugin, call, call.http_headers())


def _bytes_at(plugin: CurrentPlugin, offset: int) -> bytes:
    found = plugin.memory_at_offset(Val(ValType.I64, offset)) if offset else None
    return b"" if found is None or not len(found) else bytes(plugin.memory(found))


def _returned(plugin: CurrentPlugin, call: HttpFunctions, content: bytes) -> int:
    """Return where the content is in the module's memory, 0 for none."""
    if not content:
        return 0
    place = plugin.alloc(len(content))
    if not place.offset:
        call.out_of_memory()
        return 0
    plugin.memory(place)[:] = content
    return int(place.offset)


_I32, _I64 = ValType.I32.value, ValType.I64.value


def _function(
    name: bytes,
    run: Callable[[CurrentPlugin, HttpFunctions, Any], int],
    *,
    takes: int,
    returns: int,
) -> tuple[bytes, Any, list[int], list[int]]:
    """Return a function of the host for the C library, with the types of its values."""

    @_ffi.callback(_SIGNATURE)  # type: ignore[untyped-decorator]  # the library has no types
    def called(
        current: Any, inputs: Any, given: int, outputs: Any, returned: int, data: Any
    ) -> None:
        value = 0
        try:
            plugin = CurrentPlugin(current)
            call = plugin.host_context()
            if call is not None:
                value = run(plugin, call, inputs)
        except Exception as error:  # noqa: BLE001 - nothing may pass through the library
            _LOG.error("a request of a plugin failed: %s", type(error).__name__)
        if returns == _I32:
            outputs[0].v.i32 = value
        else:
            outputs[0].v.i64 = value

    return name, called, [_I64] * takes, [returns]


_FUNCTIONS = (
    _function(b"http_request", _request, takes=2, returns=_I64),
    _function(b"http_status_code", _status, takes=0, returns=_I32),
    _function(b"http_headers", _headers, takes=0, returns=_I64),
)


class _Compiled(CompiledPlugin):  # type: ignore[misc]  # the library has no types
    def __init__(self, settings: Mapping[str, Any], *, fuel: int) -> None:
        wasm = _wasm(dict(settings))
        message = _ffi.new("char**")
        self.functions: list[Any] = []
        pointers = [_registered(*one) for one in _FUNCTIONS]
        try:
            self.pointer = _lib.extism_compiled_plugin_new_with_fuel_limit(
                wasm,
                len(wasm),
                _ffi.new("ExtismFunction*[]", pointers),
                len(pointers),
                _WITH_WASI,
                fuel,
                message,
            )
        finally:
            for pointer in pointers:
                _lib.extism_function_free(pointer)
        if self.pointer == _ffi.NULL:
            said = _ffi.string(message[0])
            _lib.extism_plugin_new_error_free(message[0])
            raise Error(said.decode(errors="replace"))


def _registered(name: bytes, function: Any, takes: list[int], returns: list[int]) -> Any:
    pointer = _lib.extism_function_new(
        name, takes, len(takes), returns, len(returns), function, _ffi.NULL, _ffi.NULL
    )
    _lib.extism_function_set_namespace(pointer, _NAMESPACE)
    return pointer


def compiled_module(settings: Mapping[str, Any], *, fuel: int) -> CompiledPlugin:
    """Return a module by Extism's manifest; raise `extism.Error` if it cannot be used."""
    return _Compiled(settings, fuel=fuel)
