"""What a plugin has registered: one type of registration for each type of capability.

`target` implements a capability, as the runtime that loaded the plugin provides it; the host
application that serves such capabilities knows how to use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from policy.capabilities import (
    AgentCapability,
    CapabilityDeclaration,
    ChannelCapability,
    CliCapability,
    CommandCapability,
    GatewayMethodCapability,
    HookCapability,
    HttpRouteCapability,
    McpServerCapability,
    ProviderCapability,
    ServiceCapability,
    SkillCapability,
    ToolCapability,
)
from policy.tools import ToolHandler


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRegistration:
    """A tool of a plugin; while it is withheld, its handler is in no registry of tools."""

    plugin: str
    declaration: ToolCapability
    active: bool
    target: ToolHandler


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRegistration:
    """A hook of a plugin."""

    plugin: str
    declaration: HookCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRegistration:
    """A channel of a plugin."""

    plugin: str
    declaration: ChannelCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRegistration:
    """A plugin's provider of models."""

    plugin: str
    declaration: ProviderCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayMethodRegistration:
    """A plugin's method of the gateway."""

    plugin: str
    declaration: GatewayMethodCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRouteRegistration:
    """A plugin's route of the HTTP server."""

    plugin: str
    declaration: HttpRouteCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CliRegistration:
    """A subcommand of a plugin."""

    plugin: str
    declaration: CliCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRegistration:
    """A plugin's service that runs beside the host application."""

    plugin: str
    declaration: ServiceCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRegistration:
    """A plugin's command in conversations."""

    plugin: str
    declaration: CommandCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRegistration:
    """A skill of a plugin."""

    plugin: str
    declaration: SkillCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegistration:
    """An agent of a plugin."""

    plugin: str
    declaration: AgentCapability
    active: bool
    target: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerRegistration:
    """An MCP server of a plugin."""

    plugin: str
    declaration: McpServerCapability
    active: bool
    target: Any = None


PluginRegistration: TypeAlias = (
    ToolRegistration
    | HookRegistration
    | ChannelRegistration
    | ProviderRegistration
    | GatewayMethodRegistration
    | HttpRouteRegistration
    | CliRegistration
    | ServiceRegistration
    | CommandRegistration
    | SkillRegistration
    | AgentRegistration
    | McpServerRegistration
)


def registration_of(  # noqa: C901 - one case for each type
    plugin: str, declaration: CapabilityDeclaration, *, active: bool, target: Any
) -> PluginRegistration:
    """Return the registration of a declared capability."""
    match declaration:
        case ToolCapability():
            return ToolRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case HookCapability():
            return HookRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case ChannelCapability():
            return ChannelRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case ProviderCapability():
            return ProviderRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case GatewayMethodCapability():
            return GatewayMethodRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case HttpRouteCapability():
            return HttpRouteRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case CliCapability():
            return CliRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case ServiceCapability():
            return ServiceRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case CommandCapability():
            return CommandRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case SkillCapability():
            return SkillRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case AgentCapability():
            return AgentRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case McpServerCapability():
            return McpServerRegistration(
                plugin=plugin, declaration=declaration, active=active, target=target
            )
        case _:
            assert_never(declaration)
