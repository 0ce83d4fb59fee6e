"""Measure rules about earlier calls: `python -m bench.history`, half a minute.

Times are those of whole decisions on a call that was admitted before, by the number of earlier
calls; and of noting a call in a log, beside the least that the same library does for two writes in
turn, round by round. The tables go to standard output. Redis is measured if `redis-server` is
installed.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter_ns, sleep
from typing import Any

import policy
from bench.timing import median
from policy.generation import Generation
from policy.model import (
    CalledTool,
    Caller,
    CallOutput,
    Decision,
    Facts,
    ReleasedCall,
    Resolvers,
    ToolCall,
    freeze,
)
from policy.service import MemorySessionLog, RedisSessionLog, SessionLog, SqliteSessionLog

_ROUNDS = 400
_SIZES = (1_000, 10_000)
_NOW = datetime(2026, 11, 23, tzinfo=UTC)
_TEXT = 1_000_000
# 100 kB in which the user named one value among many words.
_SAID = (
    *(" ".join(f"word{number * 500 + n}" for n in range(500)) for number in range(20)),
    "book b1, please",
)

_PREAMBLE = """policy for every agent
default allow
tool t sends to input.id and nothing else
label untrusted on results of fetch
label spam on results of get_mail when result.spam == true
"""
# The condition of one rule, the input that it is asked about, and the goal in microseconds.
_CASES: tuple[tuple[str, str, dict[str, str], float], ...] = (
    ("no condition", "", {"id": "b1"}, 25.0),
    ("after TOOLS", "when after fetch within 1h", {"id": "b1"}, 25.0),
    ("after a label with a condition", "when after spam", {"id": "b1"}, 25.0),
    ("in results", "unless input.id in results(get_contacts).people.id", {"id": "person-1"}, 25.0),
    (
        "in results, not there",
        "unless input.id in results(get_contacts).people.id",
        {"id": "x"},
        25,
    ),
    ("latest by id", "when latest(c in calls(book): c.input.id == input.id).age < 1s", {}, 25.0),
    ("any by id, not there", "when any c in calls(book): c.input.id == input.id", {"id": "x"}, 25),
    ("from results", "unless input.id from results(get_contacts)", {"id": "person-1"}, 25.0),
    ("from a label, 1 MB", "when input.id from untrusted", {"id": "eve@evil.example"}, 1_000.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Median and first microseconds of something, with `calls` earlier calls."""

    what: str
    calls: int
    median: float
    first: float
    goal: float


def main() -> int:
    """Measure all; return the exit status."""
    found = [
        each
        for calls in _SIZES
        for measured in (_decisions(calls), _named(calls), _limited(calls))
        for each in measured
    ]
    with _logs() as logs:
        found += [each for log, name, goal, _ in logs for each in _noted(log, name, goal=goal)]
        beside = [f"| {name} | {' | '.join(_beside(log, bare))} |" for log, name, _, bare in logs]
    print("| what | earlier calls | median µs | first µs | goal µs |")
    print("| --- | --: | --: | --: | --: |")
    for row in found:
        print(
            f"| {row.what} | {row.calls:,} | {row.median:.1f} | {row.first:,.0f} | {row.goal:g} |"
        )
    print("\n| release and finish | median µs | two bare writes µs | ratio |")
    print("| --- | --: | --: | --: |")
    print("\n".join(beside))
    return 0


def _decisions(calls: int) -> Iterator[Measured]:
    log = MemorySessionLog()
    for number in range(calls):
        _note(log, number, calls)
    history = log.history(Caller())
    for what, condition, fields, goal in _CASES:
        input = fields or {"id": f"b{calls - 3}"}
        facts = Facts(now=_NOW, history=history, workspace="/w", home="/h")
        decide = _decider(f"rule: deny t {condition}", input, facts)
        yield _measured(what, calls, decide, goal)


def _named(calls: int) -> Iterator[Measured]:
    """Yield the look-ups in what the user wrote; the calls before it make no difference."""
    log = MemorySessionLog()
    log.hear(Caller(), _SAID, missed=False)
    for number in range(calls):
        _note(log, number, calls)
    for what, value in (("named by user", "b1"), ("named by user, not there", "b2")):
        facts = Facts(
            now=_NOW,
            history=log.history(Caller()),
            resolvers=Resolvers(said=lambda: log.said(Caller())),
        )
        decide = _decider("rule: deny t unless input.id named by user", {"id": value}, facts)
        yield _measured(f"{what}, 100 kB", calls, decide, 25.0)


def _limited(calls: int) -> Iterator[Measured]:
    """Yield a decision on a limit to which all earlier calls were charged."""
    log = MemorySessionLog()
    resolvers = Resolvers(balance=lambda charge, now: log.balance(Caller(), charge, now))
    facts = Facts(now=_NOW, history=(), resolvers=resolvers)
    statement = f"most: limit t to {2 * calls} per day per session"
    decide = _decider(statement, {"id": "b1"}, facts)
    for number in range(calls):
        decision = decide()
        assert isinstance(decision, Decision) and decision.charges
        at = _NOW - timedelta(seconds=calls - number)
        call = ReleasedCall(tool=CalledTool(name="t", kind="host"), at=at)
        release = log.release(Caller(), call, judged_by=None, charges=decision.charges)
        assert release is not None
        log.finish(release, "ok")
    yield _measured("limit per session", calls, decide, 25.0)


def _measured(what: str, calls: int, decide: Callable[[], object], goal: float) -> Measured:
    first = _timed(decide)
    times = [_timed(decide) for _ in range(_ROUNDS)]
    return Measured(what=what, calls=calls, median=median(times), first=first, goal=goal)


def _decider(statement: str, input: dict[str, Any], facts: Facts) -> Callable[[], object]:
    with _loaded(f"{_PREAMBLE}{statement}\n") as generation:
        admitted = generation.answer("t", input).admitted
        assert admitted is not None
        call: ToolCall = admitted.call
        # What a policy compiles on the first call is no work of the history.
        generation.decide(call, facts=Facts(now=_NOW, history=()))
        return lambda: generation.decide(call, facts=facts)


@contextmanager
def _loaded(text: str) -> Iterator[Generation]:
    with tempfile.TemporaryDirectory() as folder:
        tools = [
            {"name": name, "inputSchema": {"type": "object", "properties": {"id": {}}}}
            for name in ("t", "fetch", "book", "get_mail", "get_contacts")
        ]
        (Path(folder) / "tools.json").write_text(json.dumps(tools))
        (Path(folder) / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n')
        (Path(folder) / "global.policy").write_text(text)
        yield policy.load(folder)


def _note(log: SessionLog, number: int, calls: int) -> None:
    """Note one of four kinds of calls, as it is kept for rules that read its result."""
    results: dict[str, Any] = {
        "fetch": "lorem ipsum dolor " * (_TEXT // 18 * 4 // calls),
        "book": {"price": number},
        "get_mail": {"spam": False, "from": f"a{number}@b.example"},
        "get_contacts": {
            "people": [{"id": f"person-{number}"}, {"id": f"q{number}"}, {"id": "person-1"}]
        },
    }
    name = list(results)[number % 4]
    call = ReleasedCall(
        tool=CalledTool(name=name, kind="host"),
        at=_NOW - timedelta(seconds=calls - number),
        input=freeze({"id": f"b{number}"}),  # type: ignore[arg-type]
    )
    release = log.release(Caller(), call, judged_by=None)
    log.finish(release, "ok", CallOutput(result=freeze(results[name])))


@contextmanager
def _logs() -> Iterator[list[tuple[SessionLog, str, float, Callable[[], object]]]]:
    """Give each log with its name, its goal, and two writes by its library alone."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="placet-bench-")))
        stored = SqliteSessionLog(folder / "history.sqlite")
        opened.callback(stored.close)
        logs: list[tuple[SessionLog, str, float, Callable[[], object]]] = [
            (MemorySessionLog(), "in memory", 20.0, _in_dictionary({}, threading.Lock())),
            (stored, "SQLite", 1_000.0, _in_table(opened, folder / "bare.sqlite")),
        ]
        if shutil.which("redis-server") is not None:
            url = _redis_in(folder, opened)
            served = RedisSessionLog(url)
            opened.callback(served.close)
            logs.append((served, "Redis", 1_000.0, _in_stream(url)))
        yield logs


def _in_dictionary(kept: dict[int, object], lock: threading.Lock) -> Callable[[], object]:
    def twice() -> None:
        for _ in range(2):
            with lock:
                kept[len(kept)] = _NOW

    return twice


def _in_table(opened: ExitStack, file: Path) -> Callable[[], object]:
    bare = opened.enter_context(closing(sqlite3.connect(file, isolation_level=None)))
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=NORMAL")
    bare.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, text TEXT)")

    def twice() -> None:
        for _ in range(2):
            bare.execute("BEGIN IMMEDIATE")
            bare.execute("INSERT INTO entry (text) VALUES ('what happened')")
            bare.execute("COMMIT")

    return twice


def _in_stream(url: str) -> Callable[[], object]:
    import redis

    client = redis.Redis.from_url(url)

    def twice() -> None:
        for _ in range(2):
            client.xadd("bare", {"event": "what happened"})

    return twice


def _redis_in(folder: Path, opened: ExitStack) -> str:
    """Start a server, and return its URL."""
    import redis

    url = f"unix://{folder}/redis.sock"
    server = subprocess.Popen(
        [
            *("redis-server", "--port", "0", "--unixsocket", f"{folder}/redis.sock"),
            *("--dir", str(folder), "--appendonly", "yes", "--save", ""),
        ],
        stdout=subprocess.DEVNULL,
    )
    opened.callback(server.wait)
    opened.callback(server.kill)
    while True:
        try:
            redis.Redis.from_url(url).ping()
            return url
        except redis.ConnectionError:
            sleep(0.01)


def _beside(log: SessionLog, bare: Callable[[], object]) -> tuple[str, str, str]:
    """Return the medians of noting a call, of two bare writes, and of their ratio."""
    rounds = [
        (_timed(partial(_note, log, 4 * n + 1, 10_000)), _timed(bare)) for n in range(_ROUNDS)
    ]
    ratio = median([noted / least for noted, least in rounds])
    noted, least = (median([each[place] for each in rounds]) for place in (0, 1))
    return f"{noted:.0f}", f"{least:.1f}", f"{ratio:.1f}"


def _noted(log: SessionLog, name: str, *, goal: float) -> Iterator[Measured]:
    """Yield what release and finish take together."""
    what = f"release and finish, {name}"
    small = [_timed(partial(_note, log, 4 * n + 1, 10_000)) for n in range(_ROUNDS)]
    yield Measured(what=what, calls=0, median=median(small), first=small[0], goal=goal)
    # Results of 100 kB.
    large = [_timed(partial(_note, log, 4 * n, 40)) for n in range(20)]
    what = f"{what}, 100 kB"
    yield Measured(what=what, calls=0, median=median(large), first=large[0], goal=5_000.0)


def _timed(do: Callable[[], object]) -> float:
    begin = perf_counter_ns()
    do()
    return (perf_counter_ns() - begin) / 1_000


if __name__ == "__main__":
    raise SystemExit(main())
