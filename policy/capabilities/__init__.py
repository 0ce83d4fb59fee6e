"""What plugins declare, and what they are granted: two things, compared and never mixed up."""

from __future__ import annotations

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
