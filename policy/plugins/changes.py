"""The events of plugins: registered, regranted, unregistered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from policy.capabilities import Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRegistered:
    """A plugin was registered; `revision` grows with every event."""

    plugin: str
    revision: int
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRegranted:
    """A plugin's grants have changed."""

    plugin: str
    revision: int
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginUnregistered:
    """A plugin was removed, with everything it contributed."""

    plugin: str
    revision: int


PluginChange: TypeAlias = PluginRegistered | PluginRegranted | PluginUnregistered
