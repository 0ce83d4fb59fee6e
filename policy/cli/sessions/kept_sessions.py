"""The store of a policy's sessions, as the commands for people open it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from policy.cli.history_store import is_empty, store_of
from policy.cli.loading import exit_with
from policy.diagnostics import visible
from policy.generation import Generation
from policy.service import (
    RedisSessionLog,
    SessionLogUnusable,
    SessionSummary,
    SqliteSessionLog,
    open_stored_log,
)

StoredLog: TypeAlias = SqliteSessionLog | RedisSessionLog


@contextmanager
def stored_log(path: Path, generation: Generation, named: str | None) -> Iterator[StoredLog | None]:
    """Give the log of a policy's sessions, None if nothing is kept yet; report what goes wrong."""
    store = store_of(path, generation, named)
    if is_empty(store):
        yield None
        return
    try:
        log = open_stored_log(store, generation.settings.history)
        try:
            yield log
        finally:
            log.close()
    except SessionLogUnusable as error:
        exit_with(str(error))


def tree_of(log: StoredLog | None, session: str, user: str | None) -> SessionSummary:
    """Return the tree of a session; end the command if there is none, or several have the name."""
    trees = [] if log is None else log.summaries()
    named = [(who, each) for each in trees for who, name in each.sessions if name == session]
    found = [each for who, each in named if user is None or who == user]
    name = visible(session, 80)
    if not found:
        exit_with(f"no session {name} is known: `placet sessions list` shows those that are")
    if len(found) > 1:
        users = sorted("no user" if who is None else visible(who, 80) for who, _ in named)
        exit_with(f"several users have a session {name}: name one with --user ({', '.join(users)})")
    return found[0]
