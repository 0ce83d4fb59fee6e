"""Figures in; every goal beside what was reached, and whether that is enough, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.rows import FLOOR

# What the floor took at 1,000 rules where the times of the goals were set, in microseconds.
_FLOOR_THEN = 1.72
_FLOOR_NOW = f"full, 1,000 {FLOOR} µs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure that must be at most, or at least, `limit`.

    `form` shows it. What is `timed` depends on the machine; the ratios do not.
    """

    what: str
    figure: str
    limit: float
    form: str
    least: bool = False
    timed: bool = False


def _at_most(what: str, figure: str, limit: float, form: str = "{:.2f} ×") -> Goal:
    return Goal(what=what, figure=figure, limit=limit, form=form)


def _time(what: str, figure: str, limit: float, form: str = "{:.1f} µs") -> Goal:
    return Goal(what=what, figure=figure, limit=limit, form=form, timed=True)


def _decisions() -> Iterator[Goal]:
    for n in ("10", "100", "1,000", "10,000"):
        yield _at_most(f"a decision, `full`, {n} rules, to the floor", f"full, {n} ÷ floor", 2)
    for peer, limit in (("cel-expr-python", 4), ("cedarpy", 400)):
        yield Goal(
            what=f"the same at 1,000, beside {peer}",
            figure=f"full, 1,000 faster than {peer}",
            limit=limit,
            form="{:,.1f} × faster",
            least=True,
        )
    for n, most in (("10", 2.4), ("100", 3.0), ("1,000", 3.5), ("10,000", 6.0)):
        yield _time(f"the time of a decision, `full`, {n} rules", f"full, {n} µs", most)
    yield _at_most("p99 at 1,000 rules, to the floor's", "full, 1,000 p99 ÷ floor", 5)
    yield _at_most("100,000 rules, to 10", "largest ÷ smallest", 4)
    yield _time("all rules on three tools, 1,000", "skew, 1,000 µs", 3)
    yield _time("all rules on three tools, 10,000", "skew, 10,000 µs", 5)
    for kind, limit in (("a path", 30), ("a host", 30), ("a command", 100)):
        for seen in ("seen before", "never seen before"):
            yield _time(
                f"a rule about {kind}, {seen}, 1,000 rules", f"{kind}, {seen}, 1,000 µs", limit
            )
    yield _time("admission", "admission, a JSON object, 20 tools µs", 15)


def _loads() -> Iterator[Goal]:
    yield _at_most(
        "cold load of 10,000 rules and a decision, to cedarpy's load", "load 10,000 ÷ cedarpy", 3
    )
    yield _at_most(
        "a rule's load in 100,000, to a rule's in 10,000", "a rule's load, largest ÷ before", 1.25
    )
    yield _at_most(
        "one rule edited among 10,000 in 100 files, to the load of all",
        "reload 10,000 ÷ load",
        0.1,
        "{:.3f} ×",
    )
    yield _time("the same, as a time", "reload 10,000 ms", 250, "{:.0f} ms")
    yield _time(
        "one rule edited among 100, the watcher's event apart", "reload 100 ms", 60, "{:.0f} ms"
    )
    yield _at_most(
        "memory after the load of 10,000 rules, to cedarpy's", "memory 10,000 ÷ cedarpy", 0.25
    )
    yield _at_most("the same, as megabytes", "memory 10,000 MB", 60, "{:.0f} MB")
    yield _at_most("after every tool was called once", "memory 10,000 called MB", 120, "{:.0f} MB")
    yield _at_most(
        "a hook call with its daemon, to `python -c pass`", "hook ÷ nothing", 3, "{:.1f} ×"
    )
    yield _at_most(
        "`placet decide`, 50 rules, to `python -c pass`", "decide ÷ nothing", 8, "{:.1f} ×"
    )


def _layers() -> Iterator[Goal]:
    yield _at_most(
        "a call through all layers, to five empty wrappers", "layers ÷ wrappers", 100, "{:.0f} ×"
    )
    yield Goal(
        what="calls a second on one core",
        figure="calls a second",
        limit=20_000,
        form="{:,.0f}",
        least=True,
        timed=True,
    )
    yield _at_most("p99 with five reloads a second, to idle", "reloading p99 ÷ idle", 3)
    yield _time("the longest stall while reloading", "longest stall ms", 20, "{:.0f} ms")


GOALS = (*_decisions(), *_loads(), *_layers())


def goals_table(figures: Mapping[str, float]) -> str:
    """Return the goals as Markdown.

    Times are also given as they would be where the goals were set, going by the floor's time.
    """
    floor = figures.get(_FLOOR_NOW)
    slower = None if floor is None else floor / _FLOOR_THEN
    lines = [
        "| what | goal | measured | by the floor's speed | met |",
        "| --- | --: | --: | --: | --- |",
    ]
    lines += [_line(goal, figures.get(goal.figure), slower=slower) for goal in GOALS]
    return "\n".join(lines)


def _line(goal: Goal, value: float | None, *, slower: float | None) -> str:
    sign = "≥" if goal.least else "≤"
    wanted = f"{sign} {goal.form.format(goal.limit)}"
    if value is None:
        return f"| {goal.what} | {wanted} | – | – | not measured |"
    said = "yes" if _met(goal, value) else "**no**"
    shown = ""
    if goal.timed and slower is not None:
        scaled = value * slower if goal.least else value / slower
        shown = goal.form.format(scaled)
        if not _met(goal, value) and _met(goal, scaled):
            said = "by the floor's speed"
    return f"| {goal.what} | {wanted} | {goal.form.format(value)} | {shown} | {said} |"


def _met(goal: Goal, value: float) -> bool:
    return value >= goal.limit if goal.least else value <= goal.limit
