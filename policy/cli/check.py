"""`placet check`: everything that is wrong with a policy, all of it at once."""

from __future__ import annotations

from pathlib import Path

import click

from policy.cli.loading import WRONG_POLICY, build_at, catalog_option, path_argument, show
from policy.diagnostics import Format, Severity, has_errors


@click.command("check")
@path_argument
@catalog_option
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, sarif for code review.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
def command(path: Path, *, catalog_file: Path | None, format: Format, strict: bool) -> None:
    """Parse, type-check, lint and test the policy at PATH; every diagnostic is shown.

    \b
    Examples:
      placet check rules/
      placet check rules/ --catalog tools.json --format sarif > placet.sarif
    """
    built = build_at(path, catalog_file)
    output = show(built, path, format)
    if output:
        click.echo(output)
    warned = any(d.severity is Severity.WARNING for d in built.diagnostics)
    if has_errors(built.diagnostics) or built.generation is None or (strict and warned):
        raise SystemExit(WRONG_POLICY)
    if format == "text":
        generation = built.generation
        cases = len(generation.examples)
        click.echo(f"fine: {len(generation.digests)} files, {cases} test cases passed")
