"""The tools of configured plugins as policies know them, without running any plugin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from policy.capabilities import PluginManifest, PluginRefused, ProcessRuntime
from policy.catalog import Origin, ToolSpec
from policy.generation import PluginSettings
from policy.model import SandboxTier
from policy.plugins.access import shared_access
from policy.plugins.configured import reviewed
from policy.plugins.confining import tier_of_module, tier_of_program
from policy.plugins.plugin_tool import spec_of_declared
from policy.sandbox import name_in_use


def configured_specs(plugins: Mapping[str, PluginSettings]) -> tuple[ToolSpec, ...]:
    """Return the tools of those plugins that are as they were reviewed."""
    return tuple(spec for _, manifest in _reviewed(plugins) for spec in _specs(manifest))


def configured_tier(name: str, settings: PluginSettings) -> SandboxTier | None:
    """Return the sandbox that a plugin runs in, None if it does not run."""
    for _, manifest in _reviewed({name: settings}):
        access = shared_access(manifest.access, settings.reach)
        if isinstance(manifest.runtime, ProcessRuntime):
            return tier_of_program(access, driver=name_in_use(access.reach.driver))
        return tier_of_module()
    return None


def _reviewed(plugins: Mapping[str, PluginSettings]) -> Iterator[tuple[str, PluginManifest]]:
    for name, settings in plugins.items():
        if settings.path is None:
            continue
        try:
            yield name, reviewed(name, settings).manifest
        except PluginRefused:
            continue


def _specs(manifest: PluginManifest) -> Iterator[ToolSpec]:
    for declared in manifest.tools:
        try:
            spec = spec_of_declared(declared)
        except PluginRefused:
            continue
        origin = Origin(kind="ext", server=manifest.id, tool=declared.name)
        yield replace(spec, name=origin.flat_name(), origin=origin)
