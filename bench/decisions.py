"""Decisions and loading, by the number of rules: every engine in turn, checked, then timed."""

from __future__ import annotations

from dataclasses import dataclass

from bench import workload
from bench.effort import Effort, tell
from bench.process import Rounds, in_turn, processes
from bench.rows import PEERS, Row, Table, row

_ENGINES = ("placet", "cedarpy", "cedarpy per tool", "cel-expr-python")
# Long enough for a fast engine to see every request once, which also warms it.
_CHECK_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """How many of an engine's verdicts were compared, and those that are wrong."""

    scale: str
    engine: str
    compared: int
    wrong: tuple[str, ...]


def measure(effort: Effort) -> tuple[tuple[Table, ...], tuple[Checked, ...]]:
    """Return the table of decisions, and what came of checking the verdicts."""
    rows: list[Row] = []
    checks: list[Checked] = []
    plans = [("full", n) for n in effort.sizes] + [("skew", n) for n in effort.skewed]
    for profile, n in plans:
        scale = f"{profile}, {n:,}"
        tell(f"decisions: {scale} rules")
        found, compared = _measure(profile, n, scale=scale, effort=effort)
        checks += compared
        against = {peer: found[peer]["decide"] for peer in PEERS}
        rows += [
            row(found[key]["decide"], engine=key, what="decide", scale=scale, against=against)
            for key in _ENGINES
        ]
        against = {peer: found[peer]["first"] for peer in PEERS}
        first = found["placet"]["first"]
        rows.append(
            row(first, engine="placet", what="a tool's first", scale=scale, against=against)
        )
    table = Table(
        title="One decision",
        note="All that a caller does per call is inside: the request's records, admission of the "
        "raw input, the verdict read off the answer. `full` spreads the rules over many tools, "
        "`skew` puts them on three. CEL, and `cedarpy per tool`, are given the rules of one tool "
        "each by a dict of the caller's; the others find them. Placet compiles "
        "the rules of a tool at the tool's first call.",
        unit="us",
        rows=tuple(rows),
    )
    return (table,), tuple(checks)


def _measure(profile: str, n: int, *, scale: str, effort: Effort) -> tuple[Rounds, list[Checked]]:
    rules = workload.make_rules(n, profile=profile)
    requests = workload.make_requests(n, profile=profile)
    tools = [tool for tool, _ in workload.universe(n, profile)]
    wanted = workload.verdicts(rules, requests, tools)
    subjects = {key: ("deciding", {"name": key, "profile": profile, "n": n}) for key in _ENGINES}
    checks: list[Checked] = []
    first: dict[str, list[int]] = {}
    with processes(subjects) as running:
        for key, process in running.items():
            process.ask("load")
            answers = process.ask("check", seconds=_CHECK_SECONDS)
            said, first[key] = answers["said"], answers["first"]
            wrong = [
                f"{requests[i]['tool']} {requests[i]['args']}: {verdict}, not {wanted[i]}"
                for i, verdict in enumerate(said)
                if verdict != wanted[i]
            ]
            checks.append(Checked(scale=scale, engine=key, compared=len(said), wrong=tuple(wrong)))
        found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds)
    for key, taken in first.items():
        found[key]["first"] = [taken]
    return found, checks
