"""`placet sessions list` and `show`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import click

from policy.cli.history_store import generation_at
from policy.cli.options import format_option, path_argument
from policy.cli.sessions.kept_sessions import stored_log, tree_of
from policy.diagnostics import visible
from policy.model import Caller, PastCall, ToolCalls, UserSaid
from policy.service import SessionSummary

_LONGEST = 80
_MOST_CALLS = 20
_MOST_SESSIONS = 5
# Before every time.
_NEVER = ""

store_option = click.option(
    "--store",
    metavar="STORE",
    help="The file or Redis URL of the history; by default `[history] store`, or the hooks' file.",
)


def _refuse_path(_context: click.Context, _parameter: click.Parameter, rest: Sequence[str]) -> None:
    if rest:
        raise click.UsageError(
            f"the policy is an option: --rules {visible(shlex.quote(rest[0]), 200)}"
        )


session_argument = click.argument("session")
# `list` takes the policy as an argument, so people give it to the other commands in the same way.
no_path_argument = click.argument(
    "rest", nargs=-1, metavar="", expose_value=False, callback=_refuse_path
)
rules_option = click.option(
    "--rules",
    "path",
    type=click.Path(path_type=Path),
    default="rules",
    show_default=True,
    help="The policy whose sessions these are.",
)
user_option = click.option("--user", help="The user of the session; needed if several have it.")


@click.command("list")
@path_argument
@store_option
@format_option
def list_command(path: Path, *, store: str | None, format: Literal["text", "json"]) -> None:
    """List the session trees of the policy at PATH, the one used latest first.

    \b
    Examples:
      placet sessions list rules/
      placet sessions list --store rediss://redis.example/2 --format json
    """
    generation = generation_at(path)
    with stored_log(path, generation, store) as log:
        trees = sorted([] if log is None else log.summaries(), key=_latest, reverse=True)
    if format == "json":
        click.echo(json.dumps({"sessions": [_record(each) for each in trees]}))
        return
    if not trees:
        click.echo("no sessions are kept")
    for each in trees:
        click.echo(f"{_names(each)}: {_state(each)}")


@click.command("show")
@session_argument
@no_path_argument
@user_option
@rules_option
@store_option
@format_option
def show_command(
    session: str,
    *,
    user: str | None,
    path: Path,
    store: str | None,
    format: Literal["text", "json"],
) -> None:
    """Show what is kept of the tree of SESSION: its tools, and the latest calls.

    \b
    Examples:
      placet sessions show desk
      placet sessions show desk --user ada --rules /srv/rules
    """
    generation = generation_at(path)
    with stored_log(path, generation, store) as log:
        tree = tree_of(log, session, user)
        owner, name = tree.sessions[0]
        said = "nothing is kept" if log is None else log.said(Caller(session=name, user=owner))
    if format == "json":
        click.echo(json.dumps(_record(tree, calls=True) | {"said": _said_record(said)}))
        return
    click.echo(f"{_names(tree)}: {_state(tree)}")
    click.echo(f"  what the user wrote: {_said(said)}")
    for tool, calls in sorted(tree.tools.items(), key=lambda one: one[0].name):
        click.echo(f"  {visible(tool.name, _LONGEST)}: {_outcomes(calls)}")
        if tool in tree.kept.gaps:
            reason = tree.kept.reasons.get(tool, "they were made before calls were kept")
            click.echo(f"    not all are kept one by one: {reason}")
    kept = _calls(tree)
    for call in kept[-_MOST_CALLS:]:
        name = visible(call.tool, _LONGEST)
        click.echo(f"    {_time(call.at)} {name} {call.outcome}{_who(call)}")
    if len(kept) > _MOST_CALLS:
        click.echo(f"    and {len(kept) - _MOST_CALLS} before")


def _said(said: UserSaid | str) -> str:
    """Return how many messages are kept, and why not all; never what they say."""
    if isinstance(said, str):
        return said
    count = len(said.texts)
    kept = f"{count} message{'' if count == 1 else 's'} kept"
    return kept if said.missing is None else f"{kept}; {said.missing}"


def _said_record(said: UserSaid | str) -> dict[str, Any]:
    if isinstance(said, str):
        return {"messages": None, "missing": said}
    return {"messages": len(said.texts), "missing": said.missing}


def _state(tree: SessionSummary) -> str:
    latest = _latest(tree)
    parts = [f"latest call {_time(latest)}" if latest > _NEVER else "no calls"]
    if tree.running:
        parts.append(f"{tree.running} running")
    return "; ".join(parts)


def _names(tree: SessionSummary) -> str:
    names = [
        visible(name if user is None else f"{name} of {user}", _LONGEST)
        for user, name in tree.sessions
    ]
    more = len(names) - _MOST_SESSIONS
    return ", ".join(names[:_MOST_SESSIONS]) + (f" and {more} more" if more > 0 else "")


def _record(tree: SessionSummary, *, calls: bool = False) -> dict[str, Any]:
    record: dict[str, Any] = {
        "sessions": [{"user": user, "session": name} for user, name in tree.sessions],
        "running": tree.running,
        "tools": [
            {
                "tool": tool.name,
                "origin": tool.kind,
                "server": tool.server,
                "succeeded": _stamp(each.succeeded.latest),
                "other": _stamp(each.unsure.latest),
                "not_kept": tree.kept.why_missing(tool) if tool in tree.kept.gaps else None,
            }
            for tool, each in tree.tools.items()
        ],
    }
    if calls:
        record["calls"] = [
            {
                "tool": call.tool,
                "at": _stamp(call.at),
                "outcome": call.outcome,
                "session": call.session,
                "user": call.user,
                "agent": call.agent,
            }
            for call in _calls(tree)
        ]
    return record


def _calls(tree: SessionSummary) -> list[PastCall]:
    return [tree.kept[place] for place in range(tree.kept.length + len(tree.kept.running))]


def _outcomes(calls: ToolCalls) -> str:
    parts = []
    for what, moments in (("succeeded", calls.succeeded), ("other outcome", calls.unsure)):
        if moments.latest is not None or moments.untimed:
            parts.append(f"{what} {_time(moments.latest)}")
    return ", ".join(parts)


def _who(call: PastCall) -> str:
    return "" if call.agent is None else f" by {visible(call.agent, _LONGEST)}"


def _latest(tree: SessionSummary) -> str:
    times = [
        at
        for calls in tree.tools.values()
        for at in (calls.succeeded.latest, calls.unsure.latest)
        if at is not None
    ]
    return f"{max(times):%Y-%m-%dT%H:%M:%SZ}" if times else _NEVER


def _time(at: datetime | str | None) -> str:
    if at is None:
        return "at an unknown time"
    return at if isinstance(at, str) else f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _stamp(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
