"""Makes the tools of a service known to the policy in its store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from policy.catalog import RunningTool, ToolSpec
from policy.store import Registrar
from policy.tools import ToolHandler, ToolRegistry, running_tool


class ToolsOfPolicy(Protocol):
    """The part of a policy store that keeps the tools which policies know."""

    def extend_catalog(self, specs: Iterable[ToolSpec]) -> Any:
        """Add tools to those that policies know."""
        ...

    def register_tools(
        self, tools: Iterable[RunningTool], *, by: Registrar, others_follow: bool = False
    ) -> Any:
        """Add tools that `by` runs, by their own definitions."""
        ...


@dataclass(frozen=True, slots=True)
class Announcing:
    """Adds tools to a store's catalogue; does nothing without a store."""

    store: ToolsOfPolicy | None

    def __call__(self, handlers: Iterable[ToolHandler], *, by: ToolRegistry | None) -> None:
        """Add tools while the service runs; `by` is the registry that runs them."""
        self._announce(handlers, by, others_follow=True)

    def at_start(self, handlers: Iterable[ToolHandler], *, by: ToolRegistry) -> None:
        """Add all tools that the service is built with."""
        self._announce(handlers, by, others_follow=False)

    def _announce(
        self, handlers: Iterable[ToolHandler], by: ToolRegistry | None, *, others_follow: bool
    ) -> None:
        found = tuple(map(running_tool, handlers))
        if self.store is None or not found:
            return
        if by is None:
            self.store.extend_catalog(tool.spec for tool in found)
        else:
            self.store.register_tools(found, by=by, others_follow=others_follow)
