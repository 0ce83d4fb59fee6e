"""Runs a command line in this process, and returns its output and exit status."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from policy.cli.commands import commands

POLICY = """\
policy for every agent

default deny

commands look = "git status", "ls *"

read: allow file_read, file_list when reads only workspace
write: allow file_write when writes only workspace
look: allow bash_exec when runs only look
delete: allow file_delete when writes only workspace with approval because "gone is gone"
fetch: allow web_fetch when connects only to "*.example.com"
keys: deny * when reads "**/.ssh/**" because "keys stay here"
inside: deny * when connects to [private] because "out of bounds"
short: rewrite bash_exec set input.timeout = at most 60

test "reading"
  given workspace = "/srv/work"
  file_read {path: "a.txt"} -> allow by read
  file_read {path: "/etc/passwd"} -> deny by default
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a command said on each stream, and its exit status."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def record(self) -> dict[str, Any]:
        """The output as its one JSON line."""
        (line,) = self.lines
        return line


def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Ran:
    """Run a command in this process; none may end in a traceback."""
    done = CliRunner().invoke(
        commands, [str(argument) for argument in arguments], input=stdin, prog_name="placet"
    )
    if done.exception is not None:
        assert isinstance(done.exception, SystemExit), done.exception
    ran = Ran(code=done.exit_code, out=done.stdout, err=done.stderr)
    assert "Traceback" not in ran.out + ran.err
    assert "internal error" not in ran.err
    assert "internal-error" not in ran.out + ran.err
    assert "\x1b" not in ran.out + ran.err
    return ran


def rules_in(folder: Path, text: str = POLICY, **others: str) -> Path:
    """Write a policy folder: the global layer, and other files by name with `__` for the dot."""
    rules = folder / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text(text, encoding="utf-8")
    for name, content in others.items():
        file = rules / name.replace("__", ".")
        file.write_text(content, encoding="utf-8")
    return rules


def decide(rules: Path, call: dict[str, Any] | bytes, *options: str | Path) -> Ran:
    """Ask about one call, with `/srv/work` as the workspace unless it says otherwise."""
    if isinstance(call, dict):
        call = json.dumps({"workspace": "/srv/work", **call}).encode()
    return run("decide", rules, *options, stdin=call + b"\n")
