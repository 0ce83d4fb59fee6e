"""Finds which program a server's command runs, and which version of which package it is.

Nothing is run for it: what is found is in files beside the program, or in the words of the command.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from policy.generation import McpServer, StdioServer
from policy.pins import ServerProgram

# Programs that fetch a package and run it, with the words that come before its name.
_RUNNERS = {
    "npx": (),
    "bunx": (),
    "uvx": (),
    "pnpx": (),
    "pipx": ("run",),
    "pnpm": ("dlx",),
    "yarn": ("dlx",),
    "bun": ("x",),
    "uv": ("tool", "run"),
    "npm": ("exec",),
}
_VERSIONED = re.compile(r"(@?[^@=<>~!\s]+)(?:@|==)([^@=<>~!\s]+)")
_LARGEST = 1_000_000  # bytes of a file that describes a package
_MOST_FOLDERS = 20


def program_of(server: McpServer, said: str) -> ServerProgram | None:
    """Return the program of a server over stdio, None for another; `said` as below."""
    transport = server.transport
    if not isinstance(transport, StdioServer):
        return None
    return resolved_program(transport.command, folder=transport.folder, said=said)


def resolved_program(
    command: Sequence[str], *, folder: str | None = None, said: str = ""
) -> ServerProgram:
    """Return the program of a command that runs in `folder`, links resolved.

    `said` is the version that it declares itself.
    """
    first, *arguments = command
    found = shutil.which(first)
    real = first if found is None else os.path.realpath(found)
    package = _fetched(os.path.basename(first), arguments) or _installed(
        found, real, arguments, folder or ""
    )
    if package is None:
        package = f"version {said}, as it says itself" if said else ""
    return ServerProgram(command=(real, *arguments), package=package)


def _fetched(runner: str, arguments: Sequence[str]) -> str | None:
    """Return the package that a command such as `npx` fetches, None if it fetches none."""
    words = _RUNNERS.get(runner)
    if words is None or tuple(arguments[: len(words)]) != words:
        return None
    rest = [word for word in arguments[len(words) :] if not word.startswith("-")]
    if not rest:
        return None
    versioned = _VERSIONED.fullmatch(rest[0])
    if versioned is None:
        return f"{rest[0]} in whatever version is newest"
    return f"{versioned[1]} {versioned[2]}"


def _installed(found: str | None, real: str, arguments: Sequence[str], folder: str) -> str | None:
    """Return the installed package that a program, or the script it runs, is part of."""
    if found is None:
        return None
    if os.path.basename(real).startswith(("python", "pypy")):
        modules = [after for word, after in pairwise(arguments) if word == "-m"]
        return _python_package(found, f"{modules[0].partition('.')[0]}/") if modules else None
    package = _python_package(found, f"../../../bin/{os.path.basename(found)},")
    if package is not None:
        return package
    files = (os.path.join(folder, word) for word in arguments)
    scripts = [file for file in files if os.path.isfile(file)]
    return _node_package(os.path.realpath(scripts[0]) if scripts else real)


def _python_package(found: str, recorded: str) -> str | None:
    """Return the package beside a program in a Python environment that installed this file."""
    for folder in Path(found).parent.parent.glob("lib/python3*/site-packages"):
        for record in sorted(folder.glob("*.dist-info/RECORD")):
            lines = _text(record).splitlines()
            if any(line.startswith(recorded) for line in lines):
                name, _, version = record.parent.name.removesuffix(".dist-info").rpartition("-")
                return f"{name} {version}"
    return None


def _node_package(file: str) -> str | None:
    """Return the package whose folder a script is in."""
    for folder in _above(file):
        try:
            told = json.loads(_text(folder / "package.json") or "null")
        except ValueError:
            return None
        if isinstance(told, dict) and isinstance(told.get("name"), str):
            return f"{told['name']} {told.get('version', '')}".strip()
    return None


def _above(file: str) -> Iterator[Path]:
    yield from list(Path(file).parents)[:_MOST_FOLDERS]


def _text(file: Path) -> str:
    """Return the text of a file, empty if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return stream.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
