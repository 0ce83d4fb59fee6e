"""What a call costs besides its decision: the layers around a handler, admission, and reading."""

from __future__ import annotations

from bench.decisions import Checked
from bench.effort import Effort, tell
from bench.process import in_turn, processes
from bench.rows import PEERS, Row, Table, row
from bench.subjects.asking import expected
from bench.subjects.enforcing import WRAPPERS

_ENGINES = ("placet", *PEERS)
_ADMITTED = (100, 10_000)


def measure(effort: Effort) -> tuple[tuple[Table, ...], tuple[Checked, ...]]:
    """Return the tables of enforcing, reading and admission, and the verdicts that were checked."""
    reading, checks = _asking(effort)
    return (_enforcing(effort), reading, _admitting(effort)), checks


def _enforcing(effort: Effort) -> Table:
    tell("enforcing: an empty tool behind the five layers")
    peers = {peer: ("asking", {"name": peer}) for peer in PEERS}
    with processes({"placet": ("enforcing", {}), **peers}) as running:
        found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds)
    against = {WRAPPERS: found["placet"][WRAPPERS]}
    against |= {peer: found[peer]["a text begins"] for peer in PEERS}
    rows = [
        row(rounds, engine="placet", what=what, against=against)
        for what, rounds in found["placet"].items()
    ]
    rows += [
        row(rounds, engine=peer, what="one rule decided", against=against)
        for peer, rounds in against.items()
        if peer in PEERS
    ]
    return Table(
        title="The layers around a handler",
        note="One rule, one tool whose handler only counts. The five layers judge, ask nobody, "
        "watch the time and hand the handler an input of its own; the record goes to memory. "
        "Beside them five coroutines that only await the next one, which is what five layers cost "
        "at least. A tool that does not say what its texts are costs a look at the disk: each may "
        "be a path to what no tool may write. A thousand questions that wait, and are then "
        "answered, are timed as one and divided.",
        unit="us",
        rows=tuple(rows),
        beside=(WRAPPERS, *PEERS),
    )


def _asking(effort: Effort) -> tuple[Table, tuple[Checked, ...]]:
    tell("reading: texts, paths, URLs, commands")
    with processes({key: ("asking", {"name": key}) for key in _ENGINES}) as running:
        checks = tuple(_checked(key, running[key].ask("check")) for key in _ENGINES)
        found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds)
    rows: list[Row] = []
    for what in found["placet"]:
        against = {peer: found[peer][what] for peer in PEERS}
        rows += [
            row(found[key][what], engine=key, what="decide", scale=what, against=against)
            for key in _ENGINES
        ]
    table = Table(
        title="What a rule reads",
        note="One rule each. Placet reads the path, the URL or the command and compares what it "
        "means; the other engines compare the text as it stands, so `/srv/project/../../etc` "
        "passes there. Built-in tools, so Placet's times hold their argument models too.",
        unit="us",
        rows=tuple(rows),
    )
    return table, checks


def _checked(key: str, said: dict[str, str]) -> Checked:
    wrong = [
        f"{what}: {said[what]}" for what, verdict in expected().items() if said[what] != verdict
    ]
    return Checked(scale="one rule", engine=key, compared=len(said), wrong=tuple(wrong))


def _admitting(effort: Effort) -> Table:
    rows: list[Row] = []
    for n in (n for n in _ADMITTED if n <= max(effort.sizes)):
        tell(f"admission: {n // 5:,} tools")
        peers = {peer: ("asking", {"name": peer}) for peer in PEERS}
        with processes({"placet": ("admitting", {"n": n}), **peers}) as running:
            found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds)
        against = {peer: found[peer]["a text begins"] for peer in PEERS}
        rows += [
            row(rounds, engine="placet", what=what, scale=f"{n // 5:,} tools", against=against)
            for what, rounds in found["placet"].items()
        ]
    return Table(
        title="Admission alone",
        note="The workload's raw inputs (4 arguments, 300 characters) made into calls: strict "
        "JSON, the tool's schema, defaults, frozen. The ratios are to the whole of a decision on "
        "one rule by the other engine, which takes its input as it comes.",
        unit="us",
        rows=tuple(rows),
    )
