"""`placet sessions clear`: lifts the labels of a session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import click

from policy.approvals import Person
from policy.audit import AuditFileUnfit, JsonlSink
from policy.cli.history_store import generation_at
from policy.cli.loading import exit_with
from policy.cli.people_only import refuse_agents
from policy.cli.person import person_of
from policy.cli.sessions.kept_sessions import stored_log, tree_of
from policy.cli.sessions.listing import (
    no_path_argument,
    rules_option,
    session_argument,
    store_option,
    user_option,
)
from policy.diagnostics import visible
from policy.generation import Generation
from policy.model import Caller, PermissionDenied, ToolError
from policy.service import ExecAuditLayer, SessionClearing
from policy.tools import ToolService

_AGENT = "placet sessions"
_REFUSED = 1


@click.command("clear")
@session_argument
@no_path_argument
@click.option("--because", required=True, metavar="TEXT", help="The reason, for the record.")
@user_option
@click.option(
    "--running", is_flag=True, help="Also forget calls that count as running: their process died."
)
@rules_option
@store_option
def clear_command(
    session: str,
    *,
    because: str,
    user: str | None,
    running: bool,
    path: Path,
    store: str | None,
) -> None:
    """Forget the earlier calls of the tree of SESSION, and with them its labels.

    What was charged to limits and what the user wrote stay. Only people whom `[history] clear` in
    placet.toml names, or the groups of theirs, may do so; it is recorded in `[service] audit`.

    \b
    Examples:
      placet sessions clear desk --because "the mail was a drill"
      placet sessions clear desk --user ada --running --because "its machine was restarted"
    """
    refuse_agents("clearing a session")
    generation = generation_at(path)
    person = person_of(generation.settings.approvals)
    clearing = SessionClearing(
        may=may_clear(person, generation),
        recorded=_recorded(generation),
    )
    with stored_log(path, generation, store) as log:
        tree = tree_of(log, session, user)
        assert log is not None
        key = next(one for one in tree.sessions if one[1] == session and user in (None, one[0]))
        input = {"session": session, "user": key[0], "because": because, "running": running}
        caller = Caller(agent=_AGENT, user=person.id)
        try:
            asyncio.run(clearing.clear(caller, input, lambda: log.clear(key, running=running)))
        except PermissionDenied as error:
            click.echo(f"placet: {error.message}", err=True)
            raise SystemExit(_REFUSED) from error
        except ToolError as error:
            exit_with(error.message)
    click.echo(f"cleared: {visible(session, 80)}")
    if tree.running and not running:
        count = f"{tree.running} call{'' if tree.running == 1 else 's'}"
        click.echo(f"placet: {count} still running; --running forgets them too", err=True)


def may_clear(person: Person, generation: Generation) -> bool:
    """Return whether `[history] clear` names a person, or a group of theirs."""
    return not {person.id, *person.groups}.isdisjoint(generation.settings.history.clear)


def _recorded(generation: Generation) -> Callable[[ToolService], ToolService]:
    """Return what wraps a service in the audit layer; end the command if it cannot be written."""
    audit = generation.settings.service.audit
    if audit is None:
        exit_with("clearing a session is recorded: set `[service] audit` in placet.toml")
    try:
        sink = JsonlSink(audit)
        os.close(os.open(audit, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except (AuditFileUnfit, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        exit_with(f"it cannot be recorded in {audit}: {reason or error}")
    return lambda inner: ExecAuditLayer(inner, sink=sink)
