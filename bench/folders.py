"""Neutral rules in; a folder of policy files out, a hundred rules each, as a company keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import workload
from bench.peers_adapter import Engine

_EACH = 100
_HEAD = "policy for every agent\n\ndefault deny\n"
_TAKEN = "\ndefault deny\n"


def files_of(n: int) -> int:
    """Return in how many files n rules are kept."""
    return max(1, n // _EACH)


def write_folder(folder: Path, rules: list[dict[str, Any]], *, files: int) -> list[Path]:
    """Write the rules into so many files, the default into the first; return the files."""
    each = -(-len(rules) // files)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number in range(files):
        path = folder / f"part-{number:04d}.policy"
        path.write_text(text_of(rules[number * each : (number + 1) * each], first=not number))
        written.append(path)
    return written


def text_of(rules: list[dict[str, Any]], *, first: bool) -> str:
    """Return the text of one file; the default of a layer may stand in one of its files alone."""
    text = Engine().translate(rules)
    assert text.startswith(_HEAD)
    return text if first else text.replace(_TAKEN, "\n", 1)


def tools_of(n: int) -> list[str]:
    """Return the tools that n rules of profile `full` are about."""
    return [tool for tool, _ in workload.universe(n)]
