"""Limits of the built-in tools: sizes and times."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy.catalog import Language
from policy.generation import PythonSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes are in bytes, times in seconds.

    `command_path` are folders in the workspace whose programs commands find before all others.
    `code_languages` are those that `code_exec` runs; without any, there is no such tool. `python`
    is how `python_exec` runs code, if there is such a tool.
    `workspace_bytes` and `workspace_files` are how much a workspace may have before a tool that
    writes in it runs, None: any number of both.
    """

    read: int = 2_000_000
    write: int = 10_000_000
    entries: int = 10_000
    output: int = 200_000
    body: int = 2_000_000
    command_seconds: float = 60.0
    command_path: tuple[str, ...] = ()
    code_languages: tuple[Language, ...] = ()
    workspace_bytes: int | None = None
    workspace_files: int | None = None
    python: PythonSettings = field(default_factory=PythonSettings)
    web_seconds: float = 20.0
