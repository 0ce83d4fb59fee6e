"""Output of the demo: aligned lines, in colour on a terminal."""

from __future__ import annotations

import click

from policy.diagnostics import visible

_MARKS = {"allow": ("✓", "green"), "ask": ("?", "yellow"), "deny": ("✗", "red")}
_WIDTH_OF_CALL = 52


def heading(text: str, *explanation: str) -> None:
    """Print the heading of a part, and lines that explain what it is about to show."""
    click.echo()
    click.echo(click.style(text, bold=True))
    for told in explanation:
        click.echo(click.style(f"  {told}", fg="cyan"))


def line(label: str, text: str) -> None:
    """Print one fact under a label."""
    click.echo(f"  {label:<11}{text}")


def call(what: str, verdict: str, *, answer: str | None, why: str, result: str) -> None:
    """Print one call: its verdict, which rule decided, and the result."""
    mark, colour = _MARKS[verdict]
    shown = click.style(f"{mark} {verdict:<5}", fg=colour, bold=True)
    then = f" → {answer}" if answer else ""
    click.echo(f"  {shown} {_cut(what, _WIDTH_OF_CALL):<{_WIDTH_OF_CALL}} {why}{then}")
    if result:
        click.echo(click.style(f"          {_cut(result, 100)}", dim=True))


def missed(what: str) -> None:
    """Print an expectation that failed."""
    click.echo(click.style(f"  ! {what}", fg="red", bold=True))


def conclusion(*, failed: int, calls: int, seconds: float) -> None:
    """Print the summary."""
    click.echo()
    if failed:
        some = "1 thing" if failed == 1 else f"{failed} things"
        click.echo(click.style(f"{some} were not as expected", fg="red", bold=True))
        return
    click.echo(click.style(f"all as expected: {calls} calls in {seconds:.1f} s", fg="green"))


def _cut(text: str, width: int) -> str:
    seen = visible(" ".join(text.split()))
    return seen if len(seen) <= width else f"{seen[: width - 1]}…"
