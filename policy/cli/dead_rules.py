"""`placet prove --dead`: rules that never matter."""

from __future__ import annotations

from pathlib import Path

import click

from policy.cli.loading import as_json, counted, prefix
from policy.cli.progress import progress_line
from policy.diagnostics import display_name, visible
from policy.generation import Generation, no_collecting
from policy.verify import DeadRule, dead_rules


def show_dead_rules(generation: Generation, path: Path, steps: int | None, format: str) -> None:
    """Print the rules of which it is certain that no verdict depends on them."""
    bound = generation.settings.reload.steps if steps is None else steps
    with progress_line("tried", "rules") as progress, no_collecting():
        found = tuple(dead_rules(generation.program, steps=bound, progress=progress))
    if format == "json":
        click.echo(as_json({"dead": [_record(dead) for dead in found]}))
        return
    for dead in found:
        span = dead.rule.span
        place = f"{display_name(span.file, root=prefix(path))}:{span.line}"
        click.echo(f"dead      {visible(place)}  {visible(dead.rule.text, 300)}")
        click.echo(f"          {_why(dead)}")
    click.echo(f"{counted(len(found), 'rule')} never matter{'s' if len(found) == 1 else ''}")


def _why(dead: DeadRule) -> str:
    if not dead.because_of:
        return "no call of a known tool matches it"
    names = (
        f"{visible(basis.rule, 60)} ({visible(basis.place)})" if basis.place else basis.rule
        for basis in dead.because_of
    )
    return f"its calls are decided by {', '.join(names)}"


def _record(dead: DeadRule) -> dict[str, object]:
    return {
        "rule": dead.rule.id,
        "text": dead.rule.text,
        "file": dead.rule.span.file,
        "line": dead.rule.span.line,
        "layer": dead.layer.title,
        "because_of": [
            {"rule": basis.rule, "layer": basis.layer, "place": basis.place}
            for basis in dead.because_of
        ],
    }
