"""`placet check`: reports everything that is wrong with a policy."""

from __future__ import annotations

from pathlib import Path

import click

from policy.cli.loading import WRONG_POLICY, build_at, counted, exit_code, show
from policy.cli.notes import notes_on
from policy.cli.options import catalog_option, path_argument
from policy.cli.page import show_page
from policy.cli.watch import run_at_changes, watch_option
from policy.diagnostics import Format, Severity, has_errors
from policy.generation import Generation


@click.command("check")
@path_argument
@catalog_option
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, sarif for code review tools.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@watch_option
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=show_page,
    help="Show the page that explains a diagnostic, with examples.",
)
def command(
    path: Path, *, catalog_file: Path | None, format: Format, strict: bool, watch: bool
) -> None:
    """Parse, type-check, lint and test the policy at PATH; show every diagnostic.

    \b
    Examples:
      placet check rules/
      placet check rules/ --catalog tools.json --format sarif > placet.sarif
      placet check rules/ --watch
      placet check --explain unknown-tool
    """
    if not watch:
        _check(path, catalog_file, format, strict=strict)
        return
    if format != "text":
        raise click.UsageError("--watch shows text only.")
    run_at_changes(path, lambda: _check(path, catalog_file, format, strict=strict))


def _check(path: Path, catalog_file: Path | None, format: Format, *, strict: bool) -> None:
    built = build_at(path, catalog_file)
    if format != "text" or built.diagnostics:
        click.echo(show(built, path, format))
    if has_errors(built.diagnostics) or built.generation is None:
        raise SystemExit(exit_code(built.diagnostics))
    if strict and any(d.severity is Severity.WARNING for d in built.diagnostics):
        raise SystemExit(WRONG_POLICY)
    if format == "text":
        click.echo(_fine(built.generation))
        for note in notes_on(built.generation, path):
            click.echo(note, err=True)


def _fine(generation: Generation) -> str:
    read = [name for name in generation.digests if name.endswith(".policy")]
    passed = sum(result.tested for result in generation.examples)
    untested = len(generation.examples) - passed
    more = f", {untested} not tested" if untested else ""
    return f"fine: {counted(len(read), 'policy file')}, {counted(passed, 'test case')} passed{more}"
