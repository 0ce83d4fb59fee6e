"""A client's file as bytes: read, replaced as a whole, and kept as it was before."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from policy.cli.loading import exit_with
from policy.cli.wrapping.client_file import ClientFile, read_client_file
from policy.config_edit import FileChanged, replace_file
from policy.generation import LARGEST_FILE

_BOM = "\ufeff"
_SUFFIX = ".before-placet"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A file with its content as it was read."""

    path: Path
    content: bytes

    @property
    def backup(self) -> Path:
        """Where the file is kept as it was before it was wrapped."""
        return self.path.with_name(self.path.name + _SUFFIX)

    def client(self) -> ClientFile:
        """Return the servers in it, or end the command."""
        try:
            text = self.content.decode("utf-8").removeprefix(_BOM)
            return read_client_file(self.path, text)
        except ValueError as error:  # of UTF-8, JSON and TOML
            exit_with(f"{self.path} cannot be edited: {error}", code=1)

    def replace(self, client: ClientFile) -> None:
        """Write the file with another text, or end the command."""
        mark = _BOM if self.content.startswith(_BOM.encode()) else ""
        try:
            replace_file(str(self.path), (mark + client.text).encode(), before=self.content)
        except FileChanged:
            exit_with(f"{self.path} was not changed: another program has just written it", code=1)
        except OSError as error:
            exit_with(f"{self.path} was not changed: {error}", code=1)

    def keep(self, client: ClientFile) -> None:
        """Write the backup, for the owner alone: the file can hold secrets."""
        mark = _BOM if self.content.startswith(_BOM.encode()) else ""
        try:
            self.backup.unlink(missing_ok=True)
            mode = self.path.stat().st_mode & 0o600
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with open(os.open(self.backup, flags, mode), "wb") as file:
                file.write((mark + client.text).encode())
        except OSError as error:
            exit_with(f"{self.backup} cannot be written: {error}", code=1)


def text_file(path: Path) -> TextFile:
    """Read a file, or end the command."""
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        exit_with(f"{path} cannot be read: {error.strerror or error}")
    if len(content) > LARGEST_FILE:
        exit_with(f"{path} has more than {LARGEST_FILE:,} bytes")
    return TextFile(path=path, content=content)
