"""Prints the page that explains a diagnostic code."""

from __future__ import annotations

from importlib.resources import files

import click

from policy.diagnostics import CODES, did_you_mean, visible


def show_page(context: click.Context, _parameter: click.Parameter, code: str | None) -> None:
    """Print the page of a code and end, if one was given."""
    if code is None or context.resilient_parsing:
        return
    if code not in CODES:
        near = did_you_mean(code, CODES)
        hint = f"; {near}" if near else ""
        raise click.BadParameter(f"no diagnostic is called '{visible(code, 80)}'{hint}", context)
    click.echo(page_of(code), nl=False)
    context.exit()


def page_of(code: str) -> str:
    """Return the page of a code, in Markdown."""
    package = files("policy")
    beside = package.joinpath("docs", "checks")
    # A checkout has the pages where the repository keeps them.
    pages = beside if beside.is_dir() else package.joinpath("..", "docs", "checks")
    return pages.joinpath(f"{code}.md").read_text("utf-8")
