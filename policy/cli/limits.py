"""`placet limits`: what is used and what is left of the limits of a policy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any, Literal

import click

from policy.cli.approvals.text import span
from policy.cli.history_store import generation_at, is_empty, store_of
from policy.cli.limit_uses import BudgetUse, LimitUses, limit_uses, meters_of
from policy.cli.loading import exit_with, prefix
from policy.cli.options import format_option, path_argument
from policy.diagnostics import visible
from policy.generation import Generation
from policy.service import SessionLogUnusable, StoredBudget, open_stored_log

_MOST_BUDGETS = 20
_MOST_SESSIONS = 3
_LONGEST = 200


@click.command("limits")
@path_argument
@click.option(
    "--store",
    metavar="STORE",
    help="The file or Redis URL of the history; by default `[history] store`, or the hooks' file.",
)
@format_option
def command(path: Path, *, store: str | None, format: Literal["text", "json"]) -> None:
    """Show how much of each `limit` of the policy at PATH is used, and how much is left.

    \b
    Examples:
      placet limits rules/
      placet limits rules/ --store history.sqlite --format json

    Exit status: 0 shown, 1 the policy has errors, 2 wrong usage, or the store cannot be read.
    """
    generation = generation_at(path)
    kept = store_of(path, generation, store)
    uses = limit_uses(generation, _stored(kept, generation), now=datetime.now(UTC))
    if format == "json":
        click.echo(json.dumps({"store": kept, "limits": [_record(each) for each in uses]}))
        return
    for line in _lines(uses, root=prefix(path)):
        click.echo(line)


def _stored(store: str, generation: Generation) -> list[StoredBudget]:
    """Return what is kept; a file that does not exist yet is empty, and is not made."""
    if is_empty(store):
        return []
    try:
        with closing(open_stored_log(store, generation.settings.history)) as log:
            return log.budgets(meters_of(generation))
    except SessionLogUnusable as error:
        exit_with(str(error))


def _record(uses: LimitUses) -> dict[str, Any]:
    limit = uses.limit
    return {
        "limit": limit.id,
        "file": limit.span.file,
        "line": limit.span.line,
        "text": limit.text,
        "shadow": limit.shadow,
        "scope": limit.scope,
        "budgets": [
            {
                "of": use.payer,
                "sessions": [{"user": user, "session": name} for user, name in use.sessions],
                "used": str(use.used),
                "left": str(use.left),
                "frees_in_seconds": None if use.frees is None else round(use.frees, 3),
            }
            for use in uses.budgets
        ],
    }


def _lines(uses: tuple[LimitUses, ...], *, root: str) -> Iterator[str]:
    if not uses:
        yield "this policy has no limits"
    for each in uses:
        limit = each.limit
        place = f"{visible(root + limit.span.file, _LONGEST)}:{limit.span.line}"
        yield f"{visible(limit.id, _LONGEST)} ({place})"
        yield f"  {visible(limit.text, 2 * _LONGEST)}"
        if not each.budgets:
            yield "    nothing is used"
        for use in each.budgets[:_MOST_BUDGETS]:
            yield f"    {_payer(limit.scope, use)}{_state(limit.capacity, use)}"
        more = len(each.budgets) - _MOST_BUDGETS
        if more > 0:
            yield f"    and {more} more, of which less is used; --format json lists them"


def _payer(scope: str, use: BudgetUse) -> str:
    if scope == "service":
        return ""
    if scope != "session":
        who = "no " + ("value" if scope == "field" else scope)
        named = f"{'' if scope == 'field' else scope + ' '}{visible(use.payer or '', _LONGEST)}"
        return f"{who if use.payer is None else named}: "
    names = [
        visible(name if user is None else f"{name} of {user}", _LONGEST)
        for user, name in use.sessions
    ]
    more = len(names) - _MOST_SESSIONS
    others = f" and {more} more" if more > 0 else ""
    return f"session {', '.join(names[:_MOST_SESSIONS])}{others}: "


def _state(capacity: object, use: BudgetUse) -> str:
    left = f"{use.left} left" if use.left >= 0 else f"{-use.left} too much"
    frees = "" if use.frees is None else f"; the oldest counts for {span(ceil(use.frees))} more"
    return f"{use.used} of {capacity} used, {left}{frees}"
