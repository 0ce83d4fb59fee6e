"""Figures in; every goal beside what was reached, and whether that is enough, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure that must be at most, or at least, `limit`.

    `form` shows it. All are ratios: times depend on the machine.
    """

    what: str
    figure: str
    limit: float
    form: str
    least: bool = False


def _at_most(what: str, figure: str, limit: float, form: str = "{:.2f} ×") -> Goal:
    return Goal(what=what, figure=figure, limit=limit, form=form)


def _decisions() -> Iterator[Goal]:
    for n in ("10", "100", "1,000", "10,000"):
        yield _at_most(f"a decision, `full`, {n} rules, to the floor", f"full, {n} ÷ floor", 1.5)
    for peer, limit in (("cel-expr-python", 5), ("cedarpy", 300)):
        yield Goal(
            what=f"the same at 1,000, beside {peer}",
            figure=f"full, 1,000 faster than {peer}",
            limit=limit,
            form="{:,.1f} × faster",
            least=True,
        )
    for n in ("1,000", "10,000"):
        yield _at_most(f"all rules on three tools, {n}, to the floor", f"skew, {n} ÷ floor", 2)
    yield _at_most("100,000 rules, to 10", "largest ÷ smallest", 4)


def _loads() -> Iterator[Goal]:
    yield _at_most(
        "cold load of 10,000 rules and a decision, to cedarpy's load", "load 10,000 ÷ cedarpy", 5
    )
    yield _at_most(
        "one rule edited among 10,000 in 100 files, to the load of all",
        "reload 10,000 ÷ load",
        0.1,
        "{:.3f} ×",
    )
    yield _at_most(
        "memory after the load of 10,000 rules, to cedarpy's", "memory 10,000 ÷ cedarpy", 0.25
    )
    yield _at_most(
        "a hook call with its daemon, to `python -c pass`", "hook ÷ nothing", 3, "{:.1f} ×"
    )
    yield _at_most(
        "`placet decide`, 50 rules, cold, to `python -c pass`", "decide ÷ nothing", 25, "{:.1f} ×"
    )


def _layers() -> Iterator[Goal]:
    yield _at_most(
        "a call through all layers, to five empty wrappers", "layers ÷ wrappers", 100, "{:.0f} ×"
    )
    yield _at_most("p99 with five reloads a second, to idle", "reloading p99 ÷ idle", 3)


GOALS = (*_decisions(), *_loads(), *_layers())


def goals_table(figures: Mapping[str, float]) -> str:
    """Return the goals as Markdown."""
    lines = ["| what | goal | measured | met |", "| --- | --: | --: | --- |"]
    lines += [_line(goal, figures.get(goal.figure)) for goal in GOALS]
    return "\n".join(lines)


def _line(goal: Goal, value: float | None) -> str:
    wanted = f"{'≥' if goal.least else '≤'} {goal.form.format(goal.limit)}"
    if value is None:
        return f"| {goal.what} | {wanted} | – | not measured |"
    met = "yes" if _met(goal, value) else "**no**"
    return f"| {goal.what} | {wanted} | {goal.form.format(value)} | {met} |"


def _met(goal: Goal, value: float) -> bool:
    return value >= goal.limit if goal.least else value <= goal.limit
