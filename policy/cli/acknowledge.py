"""`placet acknowledge`: lets an edit take effect that waits because calls may do more under it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from policy.audit import AuditFileUnfit, JsonlSink
from policy.cli.config_edit import audit_file
from policy.cli.emergency_stop import rules_option
from policy.cli.loading import as_json, exit_with
from policy.cli.options import format_option
from policy.cli.people_only import refuse_agents
from policy.cli.person import person_of
from policy.diagnostics import visible
from policy.generation import state_folder
from policy.model import Caller, ToolError
from policy.service import Acknowledging, ExecAuditLayer, GuardCell
from policy.store import Acknowledgements, Loosening

_AGENT = "placet acknowledge"
_LONGEST = 500


@click.command("acknowledge")
@click.argument("digest", required=False)
@rules_option
@format_option
def command(digest: str | None, *, path: Path, format: str) -> None:
    """Let an edit of the rules take effect that waits, by the DIGEST of its difference.

    With `[reload] loosening = "refuse"`, an edit under which calls may do more waits for people.
    The digest counts for this very difference: after another edit, there is another one. Without
    DIGEST, what waits is listed. Only people may acknowledge, and it is recorded.

    \b
    Examples:
      placet acknowledge
      placet acknowledge sha256:3f9a… --rules /srv/rules

    Exit status: 0 success, 2 wrong usage, nothing waits under this digest, or it cannot be
    recorded and had no effect.
    """
    state = Acknowledgements.of(path)
    if not os.path.exists(path) and not state_folder(path).exists():
        exit_with(f"there is no policy at {path}: name the policy that is served with --rules")
    if digest is None:
        _list(state.waiting(), format)
        return
    refuse_agents("acknowledging an edit of the rules")
    acknowledging = Acknowledging(
        state, GuardCell(), recorded=lambda inner: ExecAuditLayer(inner, sink=_sink(path))
    )
    caller = Caller(agent=_AGENT, user=person_of(None).id)
    found = next((one for one in state.waiting() if one.digest == digest), None)
    try:
        asyncio.run(acknowledging.acknowledge(caller, digest))
    except ToolError as error:
        exit_with(error.message)
    except OSError as error:
        exit_with(f"the state of the policy cannot be written: {error.strerror or error}")
    if format == "json":
        click.echo(as_json({"acknowledged": digest}))
        return
    click.echo("acknowledged; it takes effect within moments:")
    _show(found)


def _sink(path: Path) -> JsonlSink | None:
    audit = audit_file(path)
    try:
        return None if audit is None else JsonlSink(audit)
    except (AuditFileUnfit, OSError) as error:
        exit_with(f"it cannot be recorded in {audit}: {error}")


def _list(waiting: tuple[Loosening, ...], format: str) -> None:
    if format == "json":
        click.echo(as_json({"waiting": [one.as_json() for one in waiting]}))
        return
    if not waiting:
        click.echo("nothing waits")
    for one in waiting:
        click.echo(f"waits: {visible(one.digest, 100)}")
        _show(one)


def _show(found: Loosening | None) -> None:
    for line in () if found is None else found.what:
        click.echo(f"  {visible(line, _LONGEST)}")
