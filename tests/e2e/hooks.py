"""Runs hook calls as an agent does: a process for each, in a project under a policy."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.preloaded import module, placet

ROOT = Path(__file__).resolve().parents[2]
_OURS = frozenset({"PLACET_CALL", "XDG_STATE_HOME", "CLAUDECODE", "GEMINI_CLI"})
PATIENCE = 60.0  # seconds; the machine may be busy

POLICY = """\
policy for every agent

default deny

commands look = "git status", "ls *", "cat *", "rg *"

read: allow file_read, file_list when reads only workspace
change: allow file_write when writes only workspace
remove: allow file_delete when writes only workspace with approval because "gone is gone"
look: allow bash_exec when runs only look
push: allow bash_exec when runs only "git push *" with approval because "pushing is for people"
fetch: allow web_fetch when connects only to "example.com"
finance: allow bash_exec when runs only "date" with approval by "finance"
keys: deny * when reads "**/.env" because "keys stay here"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a hook process printed, and its exit status."""

    status: int
    stdout: str
    stderr: str

    @property
    def answer(self) -> dict[str, Any]:
        """The object it printed."""
        found: dict[str, Any] = json.loads(self.stdout)
        return found

    @property
    def told(self) -> dict[str, Any]:
        """What Claude Code and Codex read of it."""
        found: dict[str, Any] = self.answer["hookSpecificOutput"]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The folders of one test: a policy, a project, a home, and where daemons listen."""

    folder: Path
    runtime: Path
    more: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def rules(self) -> Path:
        return self.folder / "rules"

    @property
    def policy(self) -> Path:
        return self.rules / "global.policy"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def audit(self) -> Path:
        return self.folder / "audit.jsonl"

    @property
    def environment(self) -> dict[str, str]:
        kept = {n: v for n, v in os.environ.items() if n not in _OURS}
        return {
            **kept,
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            **self.more,
        }

    def command(self, agent: str, *options: str) -> list[str]:
        """Return the command line of a hook."""
        place = ("--policy", str(self.rules), "--audit", str(self.audit))
        return [sys.executable, "-P", "-m", "policy", "hook", agent, *place, *options]

    def input(self, agent: str, tool: str, input: object, **more: object) -> dict[str, Any]:
        """Return what an agent writes to its hook."""
        event = "BeforeTool" if agent == "gemini-cli" else "PreToolUse"
        return {
            "session_id": "s-1",
            "transcript_path": str(self.home / "transcript.jsonl"),
            "cwd": str(self.project),
            "hook_event_name": event,
            "tool_name": tool,
            "tool_input": input,
            **more,
        }

    def call(self, agent: str, tool: str, input: object, *options: str, **more: object) -> Done:
        """Make one hook call as an agent does."""
        return self.send(agent, json.dumps(self.input(agent, tool, input, **more)), *options)

    def send(self, agent: str, text: str | bytes, *options: str) -> Done:
        """Run a hook with this on its standard input."""
        given = text.encode() if isinstance(text, str) else text
        return self.ended(self.begun(agent, *options), given)

    def begun(self, agent: str, *options: str) -> subprocess.Popen[bytes]:
        """Start a hook that waits for its input."""
        return subprocess.Popen(
            self.command(agent, *options),
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def ended(self, process: subprocess.Popen[bytes], given: bytes) -> Done:
        """Give a hook its input, and return what came of it."""
        out, err = process.communicate(given, timeout=PATIENCE)
        return Done(status=process.returncode, stdout=out.decode(), stderr=err.decode())

    def placet(self, *arguments: str) -> Done:
        """Run another command."""
        done = subprocess.run(
            placet(*arguments),
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        return Done(status=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def start_daemon(self) -> None:
        """Start the daemon as a first call does, as a process that is preloaded."""
        process = subprocess.Popen(
            module("policy.daemon", str(self.rules), "1"),
            cwd="/",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.started.append(process)
        assert process.stdout is not None
        with process.stdout as ready:
            assert ready.read(1) == b"1"

    def daemons(self) -> list[dict[str, Any]]:
        """Return the daemons that run."""
        found: list[dict[str, Any]] = json.loads(
            self.placet("daemon", "status", "--format", "json").stdout
        )["daemons"]
        return found

    def pid(self) -> int:
        """Return the process of the only daemon."""
        (daemon,) = self.daemons()
        return int(daemon["pid"])

    def end_daemons(self) -> None:
        """End all daemons, without a process that does it."""
        for where in (self.runtime / "placet").glob("*.sock"):
            with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(where))
                connection.sendall(b'{"kind": "stop"}\n')
        self.wait_for_the_end()

    def wait_for_the_end(self) -> None:
        """Return once no daemon lives: each holds its lock until then."""
        for lock in (self.runtime / "placet").glob("*.lock"):
            with lock.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
        while self.started:
            self.started.pop().wait(PATIENCE)

    def records(self) -> list[dict[str, Any]]:
        """Return what was recorded."""
        if not self.audit.exists():
            return []
        return [json.loads(line) for line in self.audit.read_text("utf-8").splitlines()]

    def save(self, text: str) -> None:
        """Replace the policy in one step."""
        fresh = self.folder / "fresh"
        fresh.write_text(text, "utf-8")
        os.replace(fresh, self.policy)


def scene_in(folder: Path, runtime: Path, more: Mapping[str, str] | None = None) -> Scene:
    """Return a scene with its folders made."""
    scene = Scene(folder=folder, runtime=runtime, more=dict(more or {}))
    for made in (scene.rules, scene.project, scene.home):
        made.mkdir()
    scene.policy.write_text(POLICY, "utf-8")
    (scene.project / "a.txt").write_text("a\n", "utf-8")
    return scene
