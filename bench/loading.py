"""From text to the first decision: reading a set, saving a watched one, starting a process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import workload
from bench.adapters.base import Adapter
from bench.effort import Effort, tell
from bench.peers_adapter import listed
from bench.process import Failed, in_turn, processes
from bench.rows import PEERS, Row, Table, row
from bench.subjects import engine
from bench.timing import timed

_ENGINES = ("placet", *PEERS)
# The size of which the parser's share is told, and those at which saves are watched.
_SAVED = (10, 1_000)


def measure(effort: Effort) -> tuple[Table, ...]:
    """Return the tables of reading, saving and starting."""
    return (_reading(effort), _saving(effort), _starting(effort))


def _reading(effort: Effort) -> Table:
    rows: list[Row] = []
    for n in effort.sizes:
        tell(f"reading: {n:,} rules")
        subjects = {key: ("reading", {"name": key, "n": n}) for key in _ENGINES}
        with processes(subjects) as running:
            # Reading ten thousand rules takes a while: once, and no round to warm up.
            large = n > 1_000
            found = (
                {
                    key: {
                        name: [taken]
                        for name, taken in process.ask("round", seconds=0, least=1).items()
                    }
                    for key, process in running.items()
                }
                if large
                else in_turn(running, rounds=min(3, effort.rounds), seconds=effort.seconds)
            )
            parsing = None if large else running["placet"].ask("parse")
        against = {peer: found[peer]["read"] for peer in PEERS}
        scale = f"{n:,}"
        rows += [
            row(found[key]["read"], engine=key, what="read", scale=scale, against=against)
            for key in _ENGINES
        ]
        if parsing is not None:
            what, rounds = "of which the parser", [[parsing * 1e9]]
            rows.append(row(rounds, engine="placet", what=what, scale=scale, against=against))
    return Table(
        title="Reading a set of rules",
        note="Text to something that decides: for Placet `policy.load`, with type checks, lints "
        "and the tests in the files; for cedarpy `PolicySet.from_str`; for CEL `compile` of each "
        "tool's expression. What a process does once, such as building the grammar, is in the "
        "last table.",
        unit="ms",
        rows=tuple(rows),
    )


def _saving(effort: Effort) -> Table:
    rows: list[Row] = []
    for n in (n for n in _SAVED if n <= max(effort.sizes)):
        tell(f"saving: {n:,} rules")
        readers = {key: ("reading", {"name": key, "n": n}) for key in PEERS}
        with processes({"placet": ("saving", {"n": n}), **readers}) as running:
            found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds)
        against = {peer: found[peer]["read and decide"] for peer in PEERS}
        scale = f"{n:,}"
        saved = found["placet"]["save to effect"]
        rows.append(
            row(saved, engine="placet", what="save to effect", scale=scale, against=against)
        )
        rows += [
            row(rounds, engine=peer, what="read and decide", scale=scale, against=against)
            for peer, rounds in against.items()
        ]
    return Table(
        title="From a save to its effect",
        note="For Placet: from `os.replace` of a file in a watched folder to the end of the first "
        "decision by its rules, noticing it (up to 50 ms of waiting for quiet), reading, checking "
        "and swapping included. The other engines watch nothing; reading the new text is the "
        "least that anybody's reload would take with them.",
        unit="ms",
        rows=tuple(rows),
    )


# ------------------------------------------------------------------ processes


def _starting(effort: Effort) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        taken: dict[str, list[list[int]]] = {what: [] for what in commands}
        for number in range(effort.starts + 1):
            tell(f"starting: round {number} of {effort.starts}")
            for what, command in commands.items():
                nanoseconds = timed(lambda command=command: _run(command))  # type: ignore[misc]
                if number:
                    taken[what].append([nanoseconds])
    against = {peer: taken[f"{peer}: import, read, decide"] for peer in PEERS}
    rows = []
    for what, rounds in taken.items():
        who, _, does = what.partition(": ")
        rows.append(row(rounds, engine=who, what=does, against=against))
    return Table(
        title="Starting a process",
        note="The whole life of a process that does this and ends, with ten rules. `import policy` "
        "imports little until it is asked for more; the rest of a first load is imports and "
        "building the grammar's tables.",
        unit="ms",
        rows=tuple(rows),
    )


def _commands(folder: Path) -> dict[str, list[str]]:
    python = [sys.executable, "-c"]
    rules = folder / "rules"
    rules.mkdir()
    sources = {key: _translated(key, 10) for key in _ENGINES}
    (rules / "bench.policy").write_text(sources["placet"])
    (folder / "call.jsonl").write_text(json.dumps(_CALL) + "\n")
    for key in PEERS:
        (folder / f"{key}.json").write_text(json.dumps(sources[key]))
    (folder / "tools.json").write_text(json.dumps(listed(_tools(10))))
    placet = [sys.executable, "-m", "policy"]
    decide = ["decide", str(rules), "--catalog", str(folder / "tools.json")]
    peer = (
        "import json, sys; from bench.subjects import engine; e = engine(sys.argv[1]); "
        "e.load(json.load(open(sys.argv[2]))); "
        "e.decide({'tool': 'x', 'args': {}, 'ctx': "
        "{'agent': 'a', 'role': 'dev', 'session': 's'}})"
    )
    return {
        "Python: nothing": [*python, "pass"],
        "placet: import policy": [*python, "import policy"],
        "placet: --version": [*placet, "--version"],
        "placet: decide, no call": [*placet, *decide, "--call", "/dev/null"],
        "placet: decide, one call": [*placet, *decide, "--call", str(folder / "call.jsonl")],
        **{
            f"{key}: import, read, decide": [*python, peer, key, str(folder / f"{key}.json")]
            for key in PEERS
        },
    }


_CALL = {"tool": "srv000__write_0", "input": {"path": "/workspace/p1/a", "size": 3}}


def _tools(n: int) -> list[str]:
    return [tool for tool, _ in workload.universe(n)]


def _translated(key: str, n: int) -> str:
    adapter: Adapter = engine(key)
    adapter.tools = _tools(n)
    return adapter.translate(workload.make_rules(n))  # type: ignore[no-any-return]


def _run(command: list[str]) -> None:
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if ended.returncode:
        raise Failed(f"{command}: {ended.stderr[-2000:]}")
