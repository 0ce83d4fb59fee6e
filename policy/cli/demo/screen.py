"""What happened in, aligned lines out; colours only where a terminal shows them."""

from __future__ import annotations

import click

from policy.diagnostics import visible

_MARKS = {"allow": ("✓", "green"), "ask": ("?", "yellow"), "deny": ("✗", "red")}
_WIDTH_OF_CALL = 52


def heading(text: str, told: str = "") -> None:
    """Begin an act."""
    click.echo()
    click.echo(click.style(text, bold=True))
    if told:
        click.echo(f"  {told}")


def line(label: str, text: str) -> None:
    """Tell one fact under a label."""
    click.echo(f"  {label:<11}{text}")


def call(what: str, verdict: str, *, answer: str | None, why: str, result: str) -> None:
    """Tell one call: its verdict, who decided, and what came of it."""
    mark, colour = _MARKS[verdict]
    shown = click.style(f"{mark} {verdict:<5}", fg=colour, bold=True)
    then = f" → {answer}" if answer else ""
    click.echo(f"  {shown} {_cut(what, _WIDTH_OF_CALL):<{_WIDTH_OF_CALL}} {why}{then}")
    if result:
        click.echo(click.style(f"          {_cut(result, 100)}", dim=True))


def missed(what: str) -> None:
    """Tell an expectation that did not hold."""
    click.echo(click.style(f"  ! {what}", fg="red", bold=True))


def conclusion(*, failed: int, calls: int, seconds: float) -> None:
    """Say how it ended."""
    click.echo()
    if failed:
        some = "1 thing" if failed == 1 else f"{failed} things"
        click.echo(click.style(f"{some} went otherwise than expected", fg="red", bold=True))
        return
    click.echo(click.style(f"all as expected: {calls} calls in {seconds:.1f} s", fg="green"))


def _cut(text: str, width: int) -> str:
    seen = visible(" ".join(text.split()))
    return seen if len(seen) <= width else f"{seen[: width - 1]}…"
