"""What plugins declare, and what they are granted: two things, compared and never mixed up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy.exports import exported

if TYPE_CHECKING:
    from policy.capabilities.declaration import (
        KINDS,
        VARIANTS,
        AgentCapability,
        CapabilityDeclaration,
        ChannelCapability,
        CliCapability,
        CommandCapability,
        GatewayMethodCapability,
        HookCapability,
        HttpRouteCapability,
        Kind,
        McpServerCapability,
        PluginRefused,
        ProviderCapability,
        ServiceCapability,
        SkillCapability,
        ToolCapability,
        capability_of,
        key_of,
    )
    from policy.capabilities.difference import Difference, compare, table
    from policy.capabilities.grant import NOTHING, Grants, fits, grants_of, pattern_problem
    from policy.capabilities.manifest import PluginManifest, manifest_of
else:
    __getattr__ = exported(
        __name__,
        {
            "declaration": (
                "KINDS VARIANTS AgentCapability CapabilityDeclaration ChannelCapability "
                "CliCapability CommandCapability GatewayMethodCapability HookCapability "
                "HttpRouteCapability Kind McpServerCapability PluginRefused ProviderCapability "
                "ServiceCapability SkillCapability ToolCapability capability_of key_of"
            ),
            "difference": "Difference compare table",
            "grant": "NOTHING Grants fits grants_of pattern_problem",
            "manifest": "PluginManifest manifest_of",
        },
    )

__all__ = [
    "KINDS",
    "NOTHING",
    "VARIANTS",
    "AgentCapability",
    "CapabilityDeclaration",
    "ChannelCapability",
    "CliCapability",
    "CommandCapability",
    "Difference",
    "GatewayMethodCapability",
    "Grants",
    "HookCapability",
    "HttpRouteCapability",
    "Kind",
    "McpServerCapability",
    "PluginManifest",
    "PluginRefused",
    "ProviderCapability",
    "ServiceCapability",
    "SkillCapability",
    "ToolCapability",
    "capability_of",
    "compare",
    "fits",
    "grants_of",
    "key_of",
    "manifest_of",
    "pattern_problem",
    "table",
]
