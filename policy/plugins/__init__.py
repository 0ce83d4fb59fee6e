"""Plugins: what they contribute, as far as the configuration grants it."""

from policy.plugins.changes import (
    PluginChange,
    PluginRegistered,
    PluginRegranted,
    PluginUnregistered,
)
from policy.plugins.grants import configured_grants, fixed_grants
from policy.plugins.registration import PluginRegistration, ToolRegistration
from policy.plugins.registry import PluginEntry, PluginRegistry

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
