"""Files on disk -> the generation in force."""

from __future__ import annotations

from policy.reload.builder import Builder, Built, build
from policy.reload.configuration import (
    Configured,
    Witness,
    configure,
    read_configuration,
    value_of,
)
from policy.reload.current import PolicyStore
from policy.reload.disk import Disk
from policy.reload.folder import ReadFile, Snapshot, read_folder
from policy.reload.freezing import Freeze, Freezer, FreezeRefused, Freezing
from policy.reload.generation import Generation
from policy.reload.health import health_record
from policy.reload.links import Links, follow_links
from policy.reload.loading import load, read_policy
from policy.reload.looking import MOST_SECONDS, Looking
from policy.reload.proposing import propose_rule
from policy.reload.replacing import Moved, replace_file
from policy.reload.settings import (
    ApprovalSettings,
    ServiceSettings,
    Settings,
)
from policy.reload.settings_file import read_settings
from policy.reload.shipped import shipped_profiles
from policy.reload.state_place import state_folder, state_folders
from policy.reload.status import Reloaded, Status, first_error
from policy.reload.text import decode
from policy.reload.toml_words import read_value, write_key, write_value
from policy.reload.walk import SETTINGS_FILE

__all__ = [
    "MOST_SECONDS",
    "SETTINGS_FILE",
    "ApprovalSettings",
    "Builder",
    "Built",
    "Configured",
    "Disk",
    "Freeze",
    "FreezeRefused",
    "Freezer",
    "Freezing",
    "Generation",
    "Links",
    "Looking",
    "Moved",
    "PolicyStore",
    "ReadFile",
    "Reloaded",
    "ServiceSettings",
    "Settings",
    "Snapshot",
    "Status",
    "Witness",
    "build",
    "configure",
    "decode",
    "first_error",
    "follow_links",
    "health_record",
    "load",
    "propose_rule",
    "read_configuration",
    "read_folder",
    "read_policy",
    "read_settings",
    "read_value",
    "replace_file",
    "shipped_profiles",
    "state_folder",
    "state_folders",
    "value_of",
    "write_key",
    "write_value",
]
