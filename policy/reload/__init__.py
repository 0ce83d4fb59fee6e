"""Files on disk -> the generation in force."""

from policy.reload.builder import Builder, Built, build
from policy.reload.current import PolicyStore
from policy.reload.folder import ReadFile, Snapshot, read_folder
from policy.reload.generation import Generation
from policy.reload.loading import load, read_policy
from policy.reload.settings import (
    BashSettings,
    CatalogueSettings,
    ServiceSettings,
    Settings,
    ToolSettings,
    WebSettings,
)
from policy.reload.status import Reloaded, Status
from policy.reload.text import decode

__all__ = [
    "BashSettings",
    "Builder",
    "Built",
    "CatalogueSettings",
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
    "load",
    "read_folder",
    "read_policy",
]
