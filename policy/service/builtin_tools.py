"""Registers the built-in tools."""

from __future__ import annotations

from dataclasses import dataclass

from policy.service.facade import GovernedService
from policy.tools import Limits, Registration, ToolHandler, ToolRegistry, builtin_handlers


@dataclass(frozen=True, slots=True)
class BuiltinTools:
    """Tools that are registered together."""

    handlers: tuple[ToolHandler, ...]

    @classmethod
    def default_for_agent(cls, limits: Limits | None = None) -> BuiltinTools:
        """Return the built-in tools."""
        return cls(builtin_handlers(limits))

    def register_all(self, target: GovernedService | ToolRegistry) -> tuple[Registration, ...]:
        """Register each tool in a service, whose catalogue it is added to, or in a bare registry.

        All or none: if a name is taken, the ones before are unregistered and ToolError is raised.
        """
        made: list[Registration] = []
        try:
            for handler in self.handlers:
                made.append(_registered(handler, target))
        except Exception:
            for entry in made:
                target.unregister(entry)
            raise
        return tuple(made)


def register_builtins(
    target: GovernedService | ToolRegistry, limits: Limits | None = None
) -> tuple[Registration, ...]:
    """Register the built-in tools; see `BuiltinTools.register_all`."""
    return BuiltinTools.default_for_agent(limits).register_all(target)


def _registered(handler: ToolHandler, target: GovernedService | ToolRegistry) -> Registration:
    if isinstance(target, ToolRegistry):
        return target.register(handler.spec.name, handler)
    return target.register(handler)
