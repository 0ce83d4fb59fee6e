"""`placet pin accept` and `forget`: what a person has reviewed, or takes back, in the lock."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from policy.cli.loading import WRONG_POLICY, counted, exit_with
from policy.cli.options import path_argument
from policy.cli.people_only import refuse_agents
from policy.cli.person import person_of
from policy.cli.pin.lock_at import lock_at
from policy.cli.pin.reviewed_server import ReviewedServer, ServerCommand, reviewed_server
from policy.cli.pin.text import left_out_lines, review_lines
from policy.diagnostics import did_you_mean, visible
from policy.pins import Review, Reviewed, accepted, proposed_resources, without

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@click.command("accept", cls=ServerCommand)
@reviewed_server
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="NAME",
    help="Accept only this tool, and what the server says of itself; the pins of others stay.",
)
@click.option(
    "--resources",
    type=click.Choice(["none", "proposed"]),
    default="none",
    show_default=True,
    help="Whether the proposed resources of new and changed tools are right.",
)
@click.option(
    "--reviewed",
    metavar="DIGEST",
    help="Accept without a question what `placet pin review` has shown with this digest.",
)
def accept_command(
    found: ReviewedServer, *, tools: tuple[str, ...], resources: str, reviewed: str | None
) -> None:
    """Accept what a server declares now, as the user who runs this command.

    Shows the review and asks. Of a changed tool, the resources that were confirmed before do not
    count any more: they are confirmed again with --resources proposed, or in `[tools.NAME]`.

    \b
    Examples:
      placet pin accept --server git -- uvx mcp-server-git
      placet pin accept --server git --tool git_status --resources proposed -- uvx mcp-server-git
    """
    refuse_agents("accepting the tools of a server")
    known, server = found.definitions.tools, visible(found.definitions.server, 80)
    for name in tools:
        if name not in known:
            help = did_you_mean(name, known)
            exit_with(
                f"server {server} has no tool {visible(name, 80)}{f'; {help}' if help else ''}"
            )
    if not _is_left(found.review, tools):
        what = _named(tools) if tools else "everything"
        click.echo(f"server {server}: {what} {'are' if len(tools) > 1 else 'is'} accepted already")
        _say_left_out(found)
        return
    _confirm(found, reviewed)
    chosen = frozenset(tools) or None
    wanted: dict[str, Any] = {}
    if resources == "proposed":
        wanted = {
            name: said
            for name, said in proposed_resources(found.review).items()
            if chosen is None or name in chosen
        }
    lock = accepted(
        found.at.lock, found.definitions, reviewed=_review(), tools=chosen, resources=wanted
    )
    found.at.replace(lock)
    pinned = counted(len(lock.servers[found.definitions.server].tools), "tool")
    if tools:
        click.echo(f"accepted: {_named(tools)} of server {server}; {pinned} in {found.at.shown}")
    else:
        click.echo(f"accepted: server {server}, {pinned} in {found.at.shown}")
    _say_left_out(found)


def _say_left_out(found: ReviewedServer) -> None:
    """Say which tools clients are not shown, accepted or not."""
    from policy.mcp import refused_names

    for line in left_out_lines(found.review):
        click.echo(line)
    definitions = found.definitions
    for name, why in refused_names(definitions.server, definitions.tools).items():
        click.echo(f"no client of a gateway is shown tool {visible(name, 80)}: {visible(why, 300)}")


@click.command("forget")
@click.argument("server")
@path_argument
def forget_command(server: str, path: Path) -> None:
    """Remove the pins of SERVER: its tools are new again.

    \b
    Example:
      placet pin forget git rules/
    """
    refuse_agents("taking back a pin")
    at = lock_at(path)
    if server not in at.lock.servers:
        help = did_you_mean(server, at.lock.servers)
        exit_with(
            f"no server {visible(server, 80)} is pinned{f'; {help}' if help else ''}",
            code=WRONG_POLICY,
        )
    at.replace(without(at.lock, server))
    click.echo(f"forgotten: server {visible(server, 80)}, in {at.shown}")


def _is_left(found: Review, tools: tuple[str, ...]) -> bool:
    """Return whether there is anything to accept, of these tools if there are any."""
    if not tools:
        return bool(found.items)
    return any(
        item.what == "server" or (item.what == "tool" and item.name in tools)
        for item in found.items
    )


def _named(tools: tuple[str, ...]) -> str:
    names = ", ".join(visible(name, 80) for name in dict.fromkeys(tools))
    return f"{'tool' if len(tools) == 1 else 'tools'} {names}"


def _confirm(found: ReviewedServer, reviewed: str | None) -> None:
    if reviewed is not None:
        if not _DIGEST.fullmatch(reviewed):
            exit_with(
                f"`{visible(reviewed, 80)}` is not the digest of a review, which `placet pin "
                "review` shows in its last line: sha256: and 64 digits"
            )
        if reviewed != found.review.digest:
            exit_with(
                "this is not what was reviewed: the server declares something else now, or the "
                "digest is of another review; see `placet pin review`",
                code=WRONG_POLICY,
            )
        return
    for line in review_lines(found.review):
        click.echo(line)
    if not sys.stdin.isatty():
        exit_with(
            "accepting needs an answer on a terminal, or --reviewed with the digest that "
            "`placet pin review` shows"
        )
    if not click.confirm("Accept this?"):
        exit_with("nothing was accepted", code=WRONG_POLICY)


def _review() -> Reviewed:
    now = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
    return Reviewed(by=person_of(None).id, at=f"{now.isoformat()}Z")
