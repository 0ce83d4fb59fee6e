"""Decisions by the number of rules: every engine in turn, checked, then timed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bench import workload
from bench.effort import Effort, tell
from bench.process import Rounds, in_turn, processes
from bench.rows import BESIDE, FLOOR, PEERS, Chart, Checked, Part, Row, Table, row
from bench.subjects.deciding import DECIDE, RAW
from bench.timing import median, p99, ratio

_PER_TOOL = "cedarpy per tool"
_ENGINES = ("placet", FLOOR, "cedarpy", _PER_TOOL, "cel-expr-python")
_PREPARING = 90.0
# Rules of three tools beyond which an expression is longer than CEL reads.
_MOST_CEL = 2_000
_PROFILES = ("full", "basic", "skew")
_FIRST = "a tool's first, raw call"
# What is drawn, by the engine and what it does.
_DRAWN = {("placet", RAW): "placet, raw call", **{(one, DECIDE): one for one in _ENGINES}}

_NOTE = (
    "`decide` is `Generation.decide` of a call that is admitted, with its caller: what a service "
    "asks, which admits a call once and judges it then. `raw call` is all of it from two dicts on. "
    "`full` spreads the rules over many tools, `basic` does so with equality, sets and numbers "
    "only, `skew` puts all rules on three tools. CEL, and `cedarpy per tool`, are given the rules "
    "of one tool each by a dict of the caller's; the others find them. The floor is generated "
    "Python on the same inputs, without a language, layers or sentences. Placet compiles the rules "
    "of a tool at its first call. CEL reads no expression as long as `skew` needs at 10,000. About "
    "3 % of the calls name a tool that there is not, and p99 is mostly of them."
)


def measure(effort: Effort) -> Part:
    """Return the tables and charts of decisions, and what came of checking the verdicts."""
    rows: list[Row] = []
    checks: list[Checked] = []
    figures: dict[str, float] = {}
    plans = [("full", n) for n in effort.sizes]
    plans += [("basic", n) for n in effort.basic] + [("skew", n) for n in effort.skewed]
    for profile, n in plans:
        scale = f"{profile}, {n:,}"
        tell(f"decisions: {scale} rules")
        found, compared = _measure(profile, n, engines=_engines(profile, n), effort=effort)
        checks += compared
        rows += _rows(found, scale)
        figures |= _figures(found, scale)
    flat, grown = _flat(effort)
    checks += grown
    figures |= flat.figures
    table = Table(
        title="One decision",
        note=_NOTE,
        unit="us",
        rows=tuple(rows),
        beside=BESIDE,
    )
    charts = tuple(_charts(rows, flat.tables[0].rows[2:]))
    return Part(tables=(table, *flat.tables), charts=charts, checks=tuple(checks), figures=figures)


def _engines(profile: str, n: int) -> tuple[str, ...]:
    too_long = profile == "skew" and n > _MOST_CEL
    return tuple(one for one in _ENGINES if not (too_long and one == "cel-expr-python"))


def _rows(found: Rounds, scale: str) -> list[Row]:
    against = {one: found[one][DECIDE] for one in BESIDE if one in found}
    ours = found["placet"]
    make = partial(row, scale=scale, against=against)
    rows = [make(found[key][DECIDE], engine=key, what=DECIDE) for key in found]
    rows.insert(1, make(ours[RAW], engine="placet", what=RAW))
    first = {one: found[one]["first"] for one in against}
    rows.append(row(ours["first"], engine="placet", what=_FIRST, scale=scale, against=first))
    return rows


def _figures(found: Rounds, scale: str) -> Mapping[str, float]:
    ours = found["placet"][DECIDE]
    figures = {f"{scale} µs": _median(found, "placet"), f"{scale} floor µs": _median(found, FLOOR)}
    figures[f"{scale} ÷ {FLOOR}"] = ratio(ours, found[FLOOR][DECIDE]) or 0.0
    for one in (one for one in PEERS if one in found):
        figures[f"{scale} faster than {one}"] = ratio(found[one][DECIDE], ours) or 0.0
    figures[f"{scale} p99 ÷ {FLOOR}"] = ratio(ours, found[FLOOR][DECIDE], by=p99) or 0.0
    return figures


def _median(found: Rounds, engine: str) -> float:
    return median([one for taken in found[engine][DECIDE] for one in taken]) / 1e3


def _measure(
    profile: str, n: int, *, engines: tuple[str, ...], effort: Effort
) -> tuple[Rounds, list[Checked]]:
    wanted = {key: ("deciding", {"name": key, "profile": profile, "n": n}) for key in engines}
    checks: list[Checked] = []
    first: dict[str, list[int]] = {}
    with processes(wanted) as running:
        for key, process in running.items():
            process.ask("load", timeout=600)
            # What prepares a tool at its first call has prepared all of them then.
            prepares = key in ("placet", FLOOR)
            seconds = _PREPARING if prepares else effort.check_seconds
            answers = process.ask("check", seconds=seconds)
            first[key] = answers["first"]
            checks.append(_checked(answers["said"], key, profile=profile, n=n))
        found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds)
    for key, taken in first.items():
        found[key]["first"] = [taken]
    return found, checks


def _checked(said: list[str], engine: str, *, profile: str, n: int) -> Checked:
    requests = workload.make_requests(n, profile=profile)
    tools = [tool for tool, _ in workload.universe(n, profile)]
    rules = workload.make_rules(n, profile=profile)
    wanted = workload.verdicts(rules, requests[: len(said)], tools)
    wrong = [
        f"{request['tool']} {request['args']}: {verdict}, not {right}"
        for request, verdict, right in zip(requests, said, wanted, strict=False)
        if verdict != right
    ]
    return Checked(scale=f"{profile}, {n:,}", engine=engine, compared=len(said), wrong=tuple(wrong))


# ------------------------------------------------------------------ flatness


def _flat(effort: Effort) -> tuple[Part, list[Checked]]:
    """Return the largest set beside the smallest, in turn; the engines that scan are left out."""
    small, large = min(effort.sizes), effort.flat
    plans = {(key, n): f"{key}, {n:,}" for n in (small, large) for key in ("placet", FLOOR)}
    wanted = {
        name: ("deciding", {"name": key, "profile": "full", "n": n})
        for (key, n), name in plans.items()
    }
    checks: list[Checked] = []
    with processes(wanted) as running:
        for (key, n), name in plans.items():
            tell(f"flatness: {name} rules, loading")
            running[name].ask("load", timeout=600)
            said = running[name].ask("check", seconds=_PREPARING)["said"]
            checks.append(_checked(said, key, profile="full", n=n))
        found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds)
    rows = []
    for (key, n), name in plans.items():
        against = {
            f"{small:,} rules": found[plans[key, small]][DECIDE],
            FLOOR: found[plans[FLOOR, n]][DECIDE],
        }
        rows.append(
            row(found[name][DECIDE], engine=key, what=DECIDE, scale=f"{n:,}", against=against)
        )
    ours = found[plans["placet", large]][DECIDE]
    figures = {
        "largest ÷ smallest": ratio(ours, found[plans["placet", small]][DECIDE]) or 0.0,
        "largest ÷ floor": ratio(ours, found[plans[FLOOR, large]][DECIDE]) or 0.0,
    }
    table = Table(
        title="The largest set beside the smallest",
        note="Profile `full`, in turn, of calls that are admitted. What grows in both is the "
        "memory that a call has to reach: more tools, each with rules of its own.",
        unit="us",
        rows=tuple(rows),
        beside=(f"{small:,} rules", FLOOR),
    )
    return Part(tables=(table,), figures=figures), checks


# ------------------------------------------------------------------ charts


def _charts(rows: list[Row], largest: tuple[Row, ...]) -> list[Chart]:
    lines = {profile: _lines(rows, profile, what="median") for profile in _PROFILES}
    for name, points in lines["full"].items():
        points += [(_number(one.scale), one.median / 1e3) for one in largest if one.engine == name]
    charts = [
        Chart(
            key=f"decisions-{profile}",
            title=f"One decision, profile {profile}: median",
            unit="µs",
            lines=lines[profile],
        )
        for profile in _PROFILES
    ]
    tail = Chart(
        key="decisions-p99",
        title="One decision, profile full: p99",
        unit="µs",
        lines=_lines(rows, "full", what="p99"),
    )
    return [charts[0], tail, *charts[1:]]


def _lines(rows: list[Row], profile: str, *, what: str) -> dict[str, list[tuple[float, float]]]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for one in rows:
        name = _DRAWN.get((one.engine, one.what))
        if name and one.scale.startswith(f"{profile},") and one.count >= 100:
            lines.setdefault(name, []).append((_number(one.scale), getattr(one, what) / 1e3))
    return lines


def _number(scale: str) -> float:
    return float(scale.rpartition(" ")[2].replace(",", ""))
