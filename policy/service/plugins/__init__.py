"""Declared capabilities -> registrations: what plugins contribute, as far as it is granted."""

from policy.service.plugins.changes import (
    PluginChange,
    PluginRegistered,
    PluginRegranted,
    PluginUnregistered,
)
from policy.service.plugins.configured import configured_grants, fixed_grants
from policy.service.plugins.registration import PluginRegistration, ToolRegistration
from policy.service.plugins.registry import PluginEntry, PluginRegistry

__all__ = [
    "PluginChange",
    "PluginEntry",
    "PluginRegistered",
    "PluginRegistration",
    "PluginRegistry",
    "PluginRegranted",
    "PluginUnregistered",
    "ToolRegistration",
    "configured_grants",
    "fixed_grants",
]
