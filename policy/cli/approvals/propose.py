"""`placet approvals propose`: the narrowest rule that would allow a call, as a diff for review."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from policy.approvals import Filed
from policy.cli.approvals.open_store import all_requests, approvals_at, request_by_prefix
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import WRONG_POLICY, exit_code, prefix, read_catalog, show
from policy.cli.options import catalog_option, path_argument
from policy.diagnostics import visible
from policy.environment import Disk
from policy.generation import read_folder
from policy.model import Facts, ToolCall
from policy.store import propose_rule
from policy.verify import NoProposal, Proposal

_LONGEST = 500


@click.command("propose")
@click.argument("id")
@path_argument
@click.option(
    "--workspace",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder that the tools work in; else the configuration's, else the current one.",
)
@catalog_option
def propose_command(
    id: str, path: Path, *, workspace: Path | None, catalog_file: Path | None
) -> None:
    """Print the narrowest change of the rules that would allow the call of request ID.

    The change has been verified: with it, this call is allowed, and similar calls are not. It is
    printed as a diff for review; nothing is written or answered. If no rule can allow the call,
    the reasons are printed, and the exit status is 1.

    \b
    Examples:
      placet approvals propose 3f9a1c2b
      placet approvals propose 3f9a1c2b rules/ > always.diff
    """
    filed = request_by_prefix(approvals_at(path).run(all_requests), id)
    if not show_proposal(filed, path, catalog_file=catalog_file, workspace=workspace):
        raise SystemExit(WRONG_POLICY)


def show_proposal(
    filed: Filed, path: Path, *, catalog_file: Path | None, workspace: Path | None
) -> bool:
    """Print the proposed rule text, or why there is none; return whether there is."""
    found = _proposal(filed, path, catalog_file=catalog_file, workspace=workspace)
    if isinstance(found, NoProposal):
        click.echo("no rule text can allow this call:", err=True)
        for why in found.why:
            click.echo(f"  {visible(why, _LONGEST)}", err=True)
        return False
    click.echo("# for review; nothing has been written", err=True)
    for edit in found.edits:
        click.echo(edit.diff(root="" if path.is_absolute() else prefix(path)), nl=False)
    return True


def _proposal(
    filed: Filed, path: Path, *, catalog_file: Path | None, workspace: Path | None
) -> Proposal | NoProposal:
    request = filed.request
    if request.kind != "call":
        return NoProposal(why=("an elevation is temporary, and rules are permanent",))
    if request.caller.parent is not None:
        return NoProposal(why=("a sub-agent asks: the rules of each agent above it count too",))
    catalog = read_catalog(catalog_file)
    snapshot, now = read_folder(path), datetime.now(UTC)
    ways = fast_paths()
    builder = ways.builder()
    built = builder.build(snapshot, catalog=catalog, number=1, now=now)
    generation = built.generation
    if generation is None:
        click.echo(show(built, path), err=True)
        raise SystemExit(exit_code(built.diagnostics))
    folder = workspace or generation.settings.service.workspace or os.getcwd()
    facts = Facts(workspace=os.path.realpath(folder), now=now, resolvers=Disk().resolvers())
    return propose_rule(
        snapshot,
        generation,
        (ToolCall(tool=request.tool, input=request.input), request.caller, facts),
        catalog=catalog,
        name=f"always-{request.digest.rpartition(':')[2][:8]}",
        now=now,
        builder=builder,
        engine=ways.engine,
    )
