"""Names that other agents use for tools like the built-in ones, for help in messages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from policy.catalog.name_repair import ALIASES

NAMES_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    ALIASES
    | {
        "Bash": "bash_exec",
        "Read": "file_read",
        "Write": "file_write",
        "Edit": "file_write",
        "MultiEdit": "file_write",
        "NotebookEdit": "file_write",
        "LS": "file_list",
        "Glob": "file_list",
        "Grep": "file_read",
        "WebFetch": "web_fetch",
    }
)
