"""The commands that coding agents ran, each as the call that a policy decides.

A row names the folder of its session and sometimes the folder that the command ran in. Sessions of
a bash on Windows name drives; such paths are written as that bash itself writes them: `C:\\a` is
`/c/a`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "agent_commands.jsonl"
_DRIVE = re.compile(r"\b([A-Za-z]):([\\/][^\s\"'`;&|<>()]*)")
_HOME = re.compile(r"/(?:Users|home|c/Users)/[^/]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """One command, with the folders that it was run in; `home` is that of the workspace's owner."""

    number: int
    agent: str
    command: str
    workspace: str
    cwd: str
    home: str


def agent_commands(half: str, *, corpus: Path = CORPUS) -> Iterator[AgentCommand]:
    """Yield the rows of one half of the corpus."""
    for number, line in enumerate(corpus.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        if row["half"] == half:
            yield _command(number, row)


def _command(number: int, row: dict[str, Any]) -> AgentCommand:
    on_windows = "\\" in row["workspace"]
    workspace = _slashed(row["workspace"])
    home = _HOME.match(workspace)
    return AgentCommand(
        number=number,
        agent=row["source"],
        command=_slashed(row["command"]) if on_windows else row["command"],
        workspace=workspace,
        cwd=_slashed(row.get("cwd") or row["workspace"]),
        home=home[0] if home else "/root",
    )


def _slashed(text: str) -> str:
    """Return a text with the paths of drives as a bash on Windows writes them."""
    return _DRIVE.sub(lambda m: f"/{m[1].lower()}{m[2].replace(chr(92), '/')}", text)
