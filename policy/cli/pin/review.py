"""`placet pin review`: shows what a server declares that has not been accepted."""

from __future__ import annotations

from typing import Literal

import click

from policy.cli.loading import WRONG_POLICY, as_json
from policy.cli.options import format_option
from policy.cli.pin.reviewed_server import ReviewedServer, ServerCommand, reviewed_server
from policy.cli.pin.text import review_json, review_lines


@click.command("review", cls=ServerCommand)
@reviewed_server
@format_option
def review_command(found: ReviewedServer, *, format: Literal["text", "json"]) -> None:
    """Show what is new or changed in a server, and what a reader of it might miss.

    `+` and `-` are what was added and removed, with hidden characters escaped; `!` warns of hidden
    characters, of words and names that look like others, and of names that other tools have; `?`
    proposes which arguments are paths or hosts.

    The exit status is 0 if there is nothing to review, and 1 if there is.

    \b
    Examples:
      placet pin review --server git -- uvx mcp-server-git
      placet pin review rules/ --server hub --url https://hub.example.com/mcp
    """
    if format == "json":
        click.echo(as_json(review_json(found.review)))
    else:
        for line in review_lines(found.review):
            click.echo(line)
        if found.review.items:
            click.echo(f"reviewed as {found.review.digest}")
    if found.review.items or found.review.problems:
        raise SystemExit(WRONG_POLICY)
