"""Files on disk -> the generation in force.

The store and what edits the configuration are imported when they are first asked for: who only
loads needs neither watcher nor loop, and no writer of TOML.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from policy.reload.builder import Builder, Built, build
from policy.reload.disk import Disk
from policy.reload.folder import SETTINGS_FILE, ReadFile, Snapshot, read_folder
from policy.reload.generation import Generation
from policy.reload.links import follow_links
from policy.reload.loading import load, read_policy
from policy.reload.proposing import propose_rule
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
    from policy.reload.configuration import (
        Configured,
        Witness,
        configure,
        read_configuration,
        value_of,
    )
    from policy.reload.current import PolicyStore
    from policy.reload.replacing import Moved, replace_file
    from policy.reload.toml_words import read_value, write_key, write_value

__all__ = [
    "SETTINGS_FILE",
    "ApprovalSettings",
    "BashSettings",
    "Builder",
    "Built",
    "CatalogueSettings",
    "Configured",
    "Disk",
    "Generation",
    "Moved",
    "PolicyStore",
    "ReadFile",
    "Reloaded",
    "ServiceSettings",
    "Settings",
    "Snapshot",
    "Status",
    "ToolSettings",
    "WebSettings",
    "Witness",
    "build",
    "configure",
    "decode",
    "follow_links",
    "load",
    "propose_rule",
    "read_configuration",
    "read_folder",
    "read_policy",
    "read_settings",
    "read_value",
    "replace_file",
    "shipped_profiles",
    "value_of",
    "write_key",
    "write_value",
]


_LATER = {
    "Configured": "policy.reload.configuration",
    "Moved": "policy.reload.replacing",
    "PolicyStore": "policy.reload.current",
    "Witness": "policy.reload.configuration",
    "configure": "policy.reload.configuration",
    "read_configuration": "policy.reload.configuration",
    "read_value": "policy.reload.toml_words",
    "replace_file": "policy.reload.replacing",
    "value_of": "policy.reload.configuration",
    "write_key": "policy.reload.toml_words",
    "write_value": "policy.reload.toml_words",
}


def __getattr__(name: str) -> Any:
    """Import one of the later names and keep it."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value
