"""Edits one key of `placet.toml`, if the policy stays valid."""

from policy.config_edit.atomic_write import FileChanged, FolderBusy, exclusive_lock, replace_file
from policy.config_edit.editor import Configured, Witness, configure, read_configuration, value_of
from policy.config_edit.toml_values import read_value, write_key, write_value

__all__ = [
    "Configured",
    "FileChanged",
    "FolderBusy",
    "Witness",
    "configure",
    "exclusive_lock",
    "read_configuration",
    "read_value",
    "replace_file",
    "value_of",
    "write_key",
    "write_value",
]
