"""Whole processes: from the command to its end, beside Python that does nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench import workload
from bench.adapters.base import Adapter
from bench.effort import Effort, tell
from bench.peers_adapter import listed
from bench.process import Failed
from bench.rows import PEERS, Part, Table, row
from bench.subjects import engine
from bench.timing import median, ratio, timed

_RULES = 50
_NOTHING = "Python: nothing"
_DECIDE = "placet: decide, one call"
_HOOK = "placet: hook, daemon warm"
_HOOK_CALL = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "cwd": "/",
    "tool_name": "Read",
    "tool_input": {"file_path": "/workspace/p1/a"},
}
_CALL = {"tool": "srv000__write_0", "input": {"path": "/workspace/p1/a", "size": 3}}
_PEER = (
    "import json, sys; from bench.subjects import engine; e = engine(sys.argv[1]); "
    "e.load(json.load(open(sys.argv[2]))); "
    "e.decide({'tool': 'x', 'args': {}, 'ctx': {'agent': 'a', 'role': 'dev', 'session': 's'}})"
)


def measure(effort: Effort) -> Part:
    """Return the table of whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        runtime = Path(folder, "run")
        runtime.mkdir(mode=0o700)
        _ENVIRONMENT["XDG_RUNTIME_DIR"] = str(runtime)
        commands = _commands(Path(folder))
        taken: dict[str, list[list[int]]] = {what: [] for what in commands}
        for number in range(effort.starts + 1):
            tell(f"starting: round {number} of {effort.starts}")
            for what, run in commands.items():
                nanoseconds = run()
                if number:
                    taken[what].append([nanoseconds])
        _run([sys.executable, "-m", "policy", "daemon", "stop"])
    against = {_NOTHING: taken[_NOTHING]}
    rows = []
    for what, rounds in taken.items():
        who, _, does = what.partition(": ")
        rows.append(row(rounds, engine=who, what=does, against=against))
    figures = {
        "hook ÷ nothing": ratio(taken[_HOOK], taken[_NOTHING]) or 0.0,
        "decide ÷ nothing": ratio(taken[_DECIDE], taken[_NOTHING]) or 0.0,
        "decide ms": median([one for each in taken[_DECIDE] for one in each]) / 1e6,
    }
    table = Table(
        title="Starting a process",
        note=f"The whole life of a process that does this and ends, with {_RULES} rules.",
        unit="ms",
        rows=tuple(rows),
        beside=(_NOTHING,),
    )
    return Part(tables=(table,), figures=figures)


def _commands(folder: Path) -> dict[str, Callable[[], int]]:
    python = [sys.executable, "-c"]
    rules = folder / "rules"
    rules.mkdir()
    sources = {key: _translated(key) for key in ("placet", *PEERS)}
    (rules / "bench.policy").write_text(sources["placet"])
    (folder / "call.jsonl").write_text(json.dumps(_CALL) + "\n")
    for key in PEERS:
        (folder / f"{key}.json").write_text(json.dumps(sources[key]))
    (folder / "tools.json").write_text(json.dumps(listed(_tools())))
    placet = [sys.executable, "-m", "policy"]
    decide = [*placet, "decide", str(rules), "--catalog", str(folder / "tools.json"), "--call"]
    call = str(folder / "call.jsonl")
    plain = {
        _NOTHING: [*python, "pass"],
        "placet: import policy": [*python, "import policy"],
        "placet: --version": [*placet, "--version"],
        "placet: decide, no call": [*decide, os.devnull],
        _DECIDE: [*decide, call],
    }
    peers = {
        f"{key}: import, read, decide": [*python, _PEER, key, str(folder / f"{key}.json")]
        for key in PEERS
    }
    hook = [*placet, "hook", "claude-code", "--policy", str(rules)]
    asked = json.dumps(_HOOK_CALL)
    return {
        **{what: partial(_timed, command) for what, command in {**plain, **peers}.items()},
        _HOOK: partial(_timed, hook, asked),
    }


def _tools() -> list[str]:
    return [tool for tool, _ in workload.universe(_RULES)]


def _translated(key: str) -> str:
    adapter: Adapter = engine(key)
    adapter.tools = _tools()
    return adapter.translate(workload.make_rules(_RULES))  # type: ignore[no-any-return]


def _timed(command: list[str], given: str = "") -> int:
    """Return how long a command takes."""
    return timed(lambda: _run(command, given))


# What is installed is compiled once, by the first process if by nobody before.
_ENVIRONMENT = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}


def _run(command: list[str], given: str = "") -> None:
    ended = subprocess.run(command, input=given, capture_output=True, text=True, env=_ENVIRONMENT)
    if ended.returncode:
        raise Failed(f"{command}: {ended.stderr[-2000:]}")
