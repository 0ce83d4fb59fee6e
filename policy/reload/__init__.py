"""Files on disk -> the generation in force.

The store is imported when it is first asked for: who only loads needs neither watcher nor loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policy.reload.builder import Builder, Built, build
from policy.reload.disk import Disk
from policy.reload.folder import SETTINGS_FILE, ReadFile, Snapshot, read_folder
from policy.reload.generation import Generation
from policy.reload.links import follow_links
from policy.reload.loading import load, read_policy
from policy.reload.settings import (
    ApprovalSettings,
    BashSettings,
    CatalogueSettings,
    ServiceSettings,
    Settings,
    ToolSettings,
    WebSettings,
)
from policy.reload.settings_file import read_settings
from policy.reload.shipped import shipped_profiles
from policy.reload.status import Reloaded, Status
from policy.reload.text import decode

if TYPE_CHECKING:
    from policy.reload.current import PolicyStore

__all__ = [
    "SETTINGS_FILE",
    "ApprovalSettings",
    "BashSettings",
    "Builder",
    "Built",
    "CatalogueSettings",
    "Disk",
    "Generation",
    "PolicyStore",
    "ReadFile",
    "Reloaded",
    "ServiceSettings",
    "Settings",
    "Snapshot",
    "Status",
    "ToolSettings",
    "WebSettings",
    "build",
    "decode",
    "follow_links",
    "load",
    "read_folder",
    "read_policy",
    "read_settings",
    "shipped_profiles",
]


def __getattr__(name: str) -> Any:
    """Import the store and keep it."""
    if name != "PolicyStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from policy.reload.current import PolicyStore

    globals()[name] = PolicyStore
    return PolicyStore
