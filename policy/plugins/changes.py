"""The events of plugins: registered, regranted, unregistered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from policy.capabilities import Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRegistered:
    """A plugin is there that was not."""

    plugin: str
    revision: int
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRegranted:
    """A plugin's grants are others now."""

    plugin: str
    revision: int
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginUnregistered:
    """A plugin is gone, and everything it contributed with it."""

    plugin: str
    revision: int


PluginChange: TypeAlias = PluginRegistered | PluginRegranted | PluginUnregistered
