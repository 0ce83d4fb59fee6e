"""Plugins: what they contribute, as far as the configuration grants it."""

from policy.plugins.changes import (
    PluginChange,
    PluginRegistered,
    PluginRegranted,
    PluginUnregistered,
)
from policy.plugins.configured import (
    ConfiguredPlugins,
    PluginReport,
    configured_plugins,
    reviewed,
)
from policy.plugins.folder import MANIFEST, PluginFolder, copied, manifest_from, read_plugin
from policy.plugins.grants import configured_grants, fixed_grants
from policy.plugins.plugin_specs import configured_specs, configured_tier
from policy.plugins.process_runtime import LauncherFor
from policy.plugins.registration import PluginRegistration, ToolRegistration
from policy.plugins.registry import PluginEntry, PluginRegistry
from policy.plugins.update import changes_between, copies_folder, reviewed_copy

__all__ = [
    "MANIFEST",
    "ConfiguredPlugins",
    "LauncherFor",
    "PluginChange",
    "PluginEntry",
    "PluginFolder",
    "PluginRegistered",
    "PluginRegistration",
    "PluginRegistry",
    "PluginRegranted",
    "PluginReport",
    "PluginUnregistered",
    "ToolRegistration",
    "changes_between",
    "configured_grants",
    "configured_plugins",
    "configured_specs",
    "configured_tier",
    "copied",
    "copies_folder",
    "fixed_grants",
    "manifest_from",
    "read_plugin",
    "reviewed",
    "reviewed_copy",
]
