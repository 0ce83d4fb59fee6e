"""Decisions by rules about paths, hosts and commands, beside the same rules about texts."""

from __future__ import annotations

from bench.effort import Effort, tell
from bench.process import Process, in_turn, processes
from bench.rows import Checked, Part, Row, Table, row
from bench.timing import median

_READ, _PLAIN = "placet", "placet, texts"
_BESIDE = "texts compared"


def measure(effort: Effort) -> Part:
    """Return the table, and what came of checking the verdicts."""
    rows: list[Row] = []
    checks: list[Checked] = []
    figures: dict[str, float] = {}
    for n in effort.verbs:
        tell(f"resources: {n:,} rules")
        plans = {_READ: {"n": n, "plain": False}, _PLAIN: {"n": n, "plain": True}}
        with processes({key: ("verbs", plan) for key, plan in plans.items()}) as running:
            checks += [_checked(key, process, n) for key, process in running.items()]
            found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds * 3)
        for what, taken in found[_READ].items():
            plain = found[_PLAIN][what]
            against = {_BESIDE: plain}
            scale = f"{n:,}"
            rows.append(row(taken, engine=_READ, what=what, scale=scale, against=against))
            rows.append(row(plain, engine=_PLAIN, what=what, scale=scale, against=against))
            figures[f"{what}, {n:,} µs"] = median([one for each in taken for one in each]) / 1e3
    table = Table(
        title="Rules about paths, hosts and commands",
        note="`Generation.decide` of admitted calls, one resource each, by rules such as `writes "
        'only ["/workspace/p1/**"]`, `connects to ["h1.example.com"]` and `runs only ["git log '
        '*"]`, five or so a tool. `never seen before` is a call whose resource is new to the '
        "process. Beside each, the same calls by rules that compare texts (`starts with`), which "
        "is a weaker question: `/workspace/p1/../../etc` begins with `/workspace/p1/`. No other "
        "engine reads resources.",
        unit="us",
        rows=tuple(rows),
        beside=(_BESIDE,),
    )
    return Part(tables=(table,), checks=tuple(checks), figures=figures)


def _checked(engine: str, process: Process, n: int) -> Checked:
    pairs = [(kind, *pair) for kind, found in process.ask("check").items() for pair in found]
    wrong = [f"{kind}: {said}, not {right}" for kind, said, right in pairs if said != right]
    return Checked(
        scale=f"resources, {n:,}", engine=engine, compared=len(pairs), wrong=tuple(wrong)
    )
