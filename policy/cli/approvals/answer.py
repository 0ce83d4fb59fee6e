"""`placet approvals approve`, `deny` and `revoke`: records a person's answer in the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import click

from policy.approvals import AnswerRefused, Filed, Grant, SqliteApprovals, answerable_by, unanswered
from policy.cli.approvals.open_store import (
    PolicyApprovals,
    all_requests,
    approvals_at,
    request_by_prefix,
)
from policy.cli.approvals.propose import show_proposal
from policy.cli.approvals.text import short
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import WRONG_POLICY, counted, exit_with
from policy.cli.options import catalog_option, path_argument
from policy.cli.people_only import refuse_agents
from policy.diagnostics import visible

_LONGEST_MESSAGE = 1_000

_Work: TypeAlias = Callable[[SqliteApprovals, datetime], Awaitable[Filed | AnswerRefused]]


@click.command("approve")
@click.argument("id")
@path_argument
@click.option(
    "--always",
    is_flag=True,
    help="Also print the narrowest rule that would allow this call. Nothing is written.",
)
@click.option(
    "--workspace",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --always: the folder that the tools work in, if the configuration names none.",
)
@catalog_option
def approve_command(
    id: str, path: Path, *, always: bool, workspace: Path | None, catalog_file: Path | None
) -> None:
    """Approve request ID, as the user who runs this command: its call may run once.

    If a rule requires two people, or a member of another group, the request stays pending for
    them. The approval is for exactly this call by this caller.

    \b
    Examples:
      placet approvals approve 3f9a1c2b
      placet approvals approve 3f9a1c2b rules/ --always
    """
    refuse_agents("answering an approval request")
    if always:
        fast_paths()  # an invalid switch is reported before anything is answered
    counter = approvals_at(path)
    filed = _answered(counter, lambda store, now: _agree(store, now, counter=counter, wanted=id))
    click.echo(_agreement(filed))
    if always:
        click.echo()
        show_proposal(filed, path, catalog_file=catalog_file, workspace=workspace)


@click.command("deny")
@click.argument("id", required=False)
@path_argument
@click.option("--message", metavar="TEXT", help="A message to the agent, so it can correct itself.")
@click.option("--session", metavar="S", help="With --all: the session whose requests to deny.")
@click.option("--all", "every", is_flag=True, help="Deny every request of the session.")
def deny_command(
    id: str | None, path: Path, *, message: str | None, session: str | None, every: bool
) -> None:
    """Deny request ID, or every request of a session. The call stays denied in that session.

    \b
    Examples:
      placet approvals deny 3f9a1c2b --message "write to build/ instead"
      placet approvals deny --session s1 --all rules/
    """
    refuse_agents("answering an approval request")
    if message is not None and len(message) > _LONGEST_MESSAGE:
        exit_with(f"--message is longer than {_LONGEST_MESSAGE} characters")
    if every != (session is not None):
        exit_with("--all and --session go together: they deny every request of one session")
    if session is not None:
        # The first argument is the path then.
        _deny_all(_path_of(id, path), session, message)
        return
    if id is None:
        exit_with("name a request by its ID, or give --session and --all")
    counter = approvals_at(path)
    filed = _answered(
        counter, lambda store, now: _refuse(store, now, counter=counter, answer=(id, message))
    )
    click.echo(f"denied: {_call(filed)}")


@click.command("revoke")
@click.argument("id")
@path_argument
def revoke_command(id: str, path: Path) -> None:
    """Revoke the standing approval ID: calls it covered ask again from the next call on.

    \b
    Examples:
      placet approvals revoke 8c41d2e0
      placet approvals revoke 8c41d2e0 rules/
    """
    refuse_agents("taking back an approval")
    grant = approvals_at(path).run(lambda store, now: _revoke(store, now, wanted=id))
    what = ", ".join(grant.tools) if grant.tools else "a remembered answer"
    click.echo(f"revoked: {visible(what, 200)} in session {visible(grant.session, 80)}")


async def _agree(
    store: SqliteApprovals, now: datetime, *, counter: PolicyApprovals, wanted: str
) -> Filed | AnswerRefused:
    filed = request_by_prefix(await all_requests(store, now), wanted)
    try:
        return await store.agree(
            filed.request.id, counter.person, now=now, groups_of=counter.settings.groups_of
        )
    except AnswerRefused as refused:
        return refused


async def _refuse(
    store: SqliteApprovals,
    now: datetime,
    *,
    counter: PolicyApprovals,
    answer: tuple[str, str | None],
) -> Filed | AnswerRefused:
    wanted, message = answer
    filed = request_by_prefix(await all_requests(store, now), wanted)
    try:
        return await store.refuse(filed.request.id, counter.person, now=now, message=message)
    except AnswerRefused as refused:
        return refused


async def _revoke(store: SqliteApprovals, now: datetime, *, wanted: str) -> Grant:
    matching = [grant for grant in await store.standing(now=now) if grant.id.startswith(wanted)]
    exact = [grant for grant in matching if grant.id == wanted]
    if len(exact or matching) != 1:
        count = "no approval is" if not matching else f"{len(matching)} approvals are"
        exit_with(f"{count} called {wanted}: `placet approvals grants` lists them")
    revoked = await store.revoke((exact or matching)[0].id)
    if revoked is None:
        exit_with(f"{wanted} has been revoked already")
    return revoked


def _deny_all(path: Path, session: str, message: str | None) -> None:
    counter = approvals_at(path)
    found = counter.run(
        lambda store, now: store.refuse_all(session, counter.person, now=now, message=message)
    )
    click.echo(f"denied: {counted(len(found), 'request')} of session {visible(session, 80)}")


def _path_of(first: str | None, path: Path) -> Path:
    """Return the policy's path, which is the first argument if there is no id."""
    if first is None:
        return path
    if not Path(first).exists():
        exit_with(f"{first} is not a path: with --all there is no ID")
    return Path(first)


def _answered(counter: PolicyApprovals, work: _Work) -> Filed:
    outcome = counter.run(work)
    if isinstance(outcome, AnswerRefused):
        exit_with(f"{outcome}{_members_of(outcome.groups, counter)}", code=WRONG_POLICY)
    return outcome


def _members_of(groups: tuple[str, ...], counter: PolicyApprovals) -> str:
    """Return who is in the groups that an answer needs, and where that is written."""
    if not groups:
        return ""
    members = (
        f"{group}: {', '.join(counter.settings.groups.get(group, ())) or 'nobody'}"
        for group in groups
    )
    return f" (`[approvals.groups]` in `placet.toml` has {'; '.join(members)})"


def _agreement(filed: Filed) -> str:
    if filed.state == "approved":
        return f"approved: {_call(filed)}"
    left = unanswered(filed.request.reasons, filed.people, filed.request.caller)
    wanted = "; ".join(
        f"{visible(reason.rule, 120)} must be answered by {answerable_by(reason.terms)}"
        for reason in left
    )
    return f"noted: {_call(filed)} is still pending: {wanted}"


def _call(filed: Filed) -> str:
    request = filed.request
    return (
        f"{visible(request.tool, 120)} by {visible(request.caller.agent, 80)} ({short(request.id)})"
    )
