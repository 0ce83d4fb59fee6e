"""The policy sets that `placet init` writes, as they are packaged beside this module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

# The sets by name, each with what it is for.
STARTING_SETS: Mapping[str, str] = MappingProxyType(
    {
        "coding-agent": "files, commands and documentation for a coding agent",
        "support": "look-ups, replies and refunds for a support agent, with example tools",
        "research": "web pages and notes for a research agent",
        "gateway": "the tools of MCP servers behind `placet gateway`, with an example server",
        "data": "SQL queries and results for a data agent, with example tools",
    }
)


def files_of(name: str) -> Mapping[str, bytes]:
    """Return the files of a set, by their names in the policy folder."""
    folder = files("policy.cli.init").joinpath("sets", name)
    return dict(sorted(_files(folder, "")))


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.read_bytes()
