"""`placet approvals list`, `show` and `grants`: pending requests and standing approvals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from time import sleep as pause

import click

from policy.approvals import (
    ApprovalRequest,
    Filed,
    Grant,
    SqliteApprovals,
    answerable_by,
    as_of_now,
)
from policy.cli.approvals.open_store import (
    PolicyApprovals,
    all_requests,
    approvals_at,
    request_by_prefix,
)
from policy.cli.approvals.suspension import suspensions
from policy.cli.approvals.text import (
    details,
    grant_record,
    input_in_short,
    request_record,
    short,
    since,
    until,
)
from policy.cli.loading import as_json, prefix
from policy.cli.options import format_option, path_argument
from policy.diagnostics import visible

_EVERY = 1.0  # seconds between two reads
_WIDEST = 60  # columns of the last column, so that a row stays on one line


@click.command("list")
@path_argument
@click.option("--session", metavar="S", help="Only requests of this session and those below it.")
@click.option("--watch", is_flag=True, help="Show the list again whenever it changes.")
@format_option
def list_command(path: Path, *, session: str | None, watch: bool, format: str) -> None:
    """List the pending requests about the policy at PATH, oldest first.

    ACCESS is the first resource that the call would access; below it stands the input, shortened:
    `show` has all of it.

    \b
    Examples:
      placet approvals list rules/
      placet approvals list --session s1 --format json
      placet approvals list --watch
    """
    counter = approvals_at(path)
    if not watch:
        click.echo(_listed(_waiting(counter, session), counter.store, format=format))
        return
    before: str | None = None
    while True:
        shown = _listed(_waiting(counter, session), counter.store, format=format)
        # The ages change the text every second; that alone is not a change.
        if (mark := _mark(shown, format)) != before:
            before = mark
            click.echo(shown)
        pause(_EVERY)


@click.command("show")
@click.argument("id")
@path_argument
@format_option
def show_command(id: str, path: Path, *, format: str) -> None:
    """Show one request: the resources of the call, its input, why it asks, and who may answer.

    A prefix of an ID is enough if it is unique.

    \b
    Examples:
      placet approvals show 3f9a1c2b
      placet approvals show 3f9a1c2b rules/ --format json
    """
    counter = approvals_at(path)
    found = _counting(request_by_prefix(counter.run(all_requests), id), counter)
    if format == "json":
        click.echo(as_json(request_record(found)))
        return
    click.echo("\n".join(details(found, now=datetime.now(UTC), root=prefix(path))))


@click.command("grants")
@path_argument
@format_option
def grants_command(path: Path, *, format: str) -> None:
    """List the standing approvals: remembered ones, and elevations.

    \b
    Examples:
      placet approvals grants rules/
      placet approvals grants --format json
    """
    counter = approvals_at(path)
    found, requests = counter.run(_standing) if counter.store.exists() else ((), {})
    suspended = suspensions(path, found, requests, groups_of=counter.settings.groups_of)
    if format == "json":
        records = [{**grant_record(one), "suspended": suspended[one.id]} for one in found]
        click.echo(as_json({"grants": records}))
    elif not found:
        click.echo(f"no standing approval is in force in {visible(str(counter.store))}")
    else:
        now = datetime.now(UTC)
        head = ("ID", "GIVEN", "LEFT", "UNUSED", "SESSION", "BY", "FOR")
        rows = (_grant(grant, now, suspended=suspended[grant.id]) for grant in found)
        click.echo(_table([head, *rows]))


async def _standing(
    store: SqliteApprovals, now: datetime
) -> tuple[tuple[Grant, ...], dict[str, ApprovalRequest]]:
    """Return the standing approvals, and the requests that they answered."""
    found = await store.standing(now=now)
    requests: dict[str, ApprovalRequest] = {}
    for id in {grant.request for grant in found if grant.request is not None}:
        filed = await store.get(id, now=now)
        if filed is not None:
            requests[id] = filed.request
    return found, requests


def _waiting(counter: PolicyApprovals, session: str | None) -> tuple[Filed, ...]:
    if not counter.store.exists():
        return ()
    found = counter.run(lambda store, now: store.open(now=now, session=session))
    return tuple(_counting(filed, counter) for filed in found)


def _counting(filed: Filed, counter: PolicyApprovals) -> Filed:
    """Return a request with the groups by which its answers count, if it is pending."""
    if filed.state != "pending":
        return filed
    return replace(filed, people=as_of_now(filed.people, counter.settings.groups_of))


def _listed(found: tuple[Filed, ...], store: Path, *, format: str) -> str:
    if format == "json":
        return as_json({"questions": [request_record(filed) for filed in found]})
    if not found:
        # A program may keep its requests in another file than the one that is read here.
        return f"no request is pending in {visible(str(store))}"
    now = datetime.now(UTC)
    head = ("ID", "AGE", "LEFT", "AGENT", "TOOL", "ACCESS", "BY")
    first, *rows = _table([head, *(_request(filed, now) for filed in found)]).split("\n")
    inputs = (input_in_short(filed.request.input) for filed in found)
    return "\n".join((first, *chain.from_iterable(zip(rows, inputs, strict=True))))


def _mark(shown: str, format: str) -> str:
    if format == "json":
        return shown
    return "\n".join(line.split(" ", 1)[0] for line in shown.splitlines())


def _request(filed: Filed, now: datetime) -> tuple[str, ...]:
    request = filed.request
    access = request.resources[0] if request.resources else "-"
    more = len(request.resources) - 1
    by = dict.fromkeys(answerable_by(reason.terms) for reason in request.reasons)
    return (
        short(request.id),
        since(request.asked_at, now),
        until(request.expires, now),
        visible(request.caller.agent, 20),
        visible(request.tool, 30),
        visible(access, _WIDEST) + (f" and {more} more" if more > 0 else ""),
        "; ".join(by),
    )


def _grant(grant: Grant, now: datetime, *, suspended: bool | None) -> tuple[str, ...]:
    return (
        short(grant.id),
        since(grant.given_at, now),
        until(grant.expires, now),
        "-" if grant.uses is None else str(grant.uses),
        visible(grant.session, 20),
        visible(", ".join(person.id for person in grant.people), 40),
        visible(", ".join(grant.tools), _WIDEST)
        if grant.tools
        else _remembered(grant, suspended=suspended),
    )


def _remembered(grant: Grant, *, suspended: bool | None) -> str:
    what = "calls as remembered" if grant.request is None else f"as in {short(grant.request)}"
    return f"{what} (suspended: its rule or its people's groups were edited)" if suspended else what


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    rows = list(rows)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
