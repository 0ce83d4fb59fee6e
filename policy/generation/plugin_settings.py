"""What the configuration says of one plugin: its grants, and the files that Placet runs of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from policy.generation.mcp_servers import Value
from policy.generation.sandbox_settings import Reach
from policy.model import EMPTY

# Instructions of one call of a WebAssembly plugin; some seconds of work on most machines.
_FUEL = 10_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSettings:
    """One plugin. `grant` are patterns of the capabilities that it may contribute.

    `path` is the absolute path of the folder with its `plugin.json`; None: the host application
    registers it. `digest` is that of all files of the folder, as people have reviewed them.
    `reach` is what it may touch when it runs, and `fuel` how many instructions a call in
    WebAssembly may take. `env` is what it gets beside the few variables of every program; a module
    reads it as its configuration.
    """

    grant: tuple[str, ...] = ()
    path: str | None = None
    digest: str | None = None
    reach: Reach = field(default_factory=Reach)
    fuel: int = _FUEL
    env: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
