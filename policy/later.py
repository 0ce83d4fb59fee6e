"""A module, a function in one, or a pattern in; what makes it when it is first used, out.

For what costs something to import and what most processes never use. The type checker is told the
plain import, so that nothing else changes:

    if TYPE_CHECKING:
        import tomllib
    else:
        tomllib = later.module("tomllib")

A pattern takes longer to compile than a module to import, so those of modules are made late too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["function", "module", "pattern"]


class _Module:
    """Stands for a module, and imports it when something of it is first asked for."""

    def __init__(self, name: str) -> None:
        self.__name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name), name)
        setattr(self, name, value)
        return value


def module(name: str) -> Any:
    """Return what stands for a module."""
    return _Module(name)


def function(module: str, name: str, *, into: dict[str, Any] | None = None) -> Callable[..., Any]:
    """Return what stands for a function, or a class that is only called.

    In the namespace `into`, the function takes its place when it is first called.
    """
    real: Callable[..., Any] | None = None

    def call(*given: Any, **named: Any) -> Any:
        nonlocal real
        if real is None:
            real = getattr(import_module(module), name)
            assert real is not None
            if into is not None:
                into[name] = real
        return real(*given, **named)

    call.__name__ = call.__qualname__ = name
    call.__module__ = module
    return call


pattern = re.compile
