"""`PluginCode`: what runs the tools of a plugin, and the errors that it raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from policy.generation import Value
from policy.model import SandboxTier
from policy.sandbox import SandboxDenial
from policy.tools import ExecutionContext


class PluginFailed(Exception):
    """A tool has run and failed; the text says why, and `denial` whether by its sandbox."""

    def __init__(self, text: str, *, denial: SandboxDenial | None = None) -> None:
        super().__init__(text)
        self.denial = denial


class PluginUnreachable(PluginFailed):
    """A tool has not run, or nobody knows whether it did; the text says which, and why."""


class PluginCode(Protocol):
    """The code of one plugin, by whatever runs it."""

    @property
    def tier(self) -> SandboxTier:
        """The sandbox that confines it."""
        ...

    @property
    def env(self) -> Mapping[str, Value]:
        """The variables that it gets; the secrets among them are not shown in errors."""
        ...

    async def check(self) -> None:
        """Try it; raise PluginRefused if it cannot be used as its manifest says."""
        ...

    async def call(self, tool: str, input: Mapping[str, Any], ctx: ExecutionContext) -> Any:
        """Return what a tool returns, as JSON; raise PluginFailed, or SandboxMissing."""
        ...

    async def end_unused(self) -> None:
        """End processes that no call uses; the next call starts them again."""
        ...

    async def close(self) -> None:
        """End all that runs of it."""
        ...
