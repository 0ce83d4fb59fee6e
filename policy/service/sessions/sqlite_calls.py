"""The calls that a file keeps one by one: as rows, and as the snapshots that decisions read."""

from __future__ import annotations

import json
import sqlite3
import threading
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from policy.model import (
    RUNNING,
    CalledTool,
    Caller,
    CallOutput,
    EndedCalls,
    PastCalls,
    ReleasedCall,
)
from policy.service.sessions.kept_calls import (
    NOT_READ,
    PART,
    KeepingBounds,
    encoded,
    encoded_output,
    too_many_bytes,
    too_many_calls,
    too_old,
)
from policy.service.sessions.stored_calls import (
    MICROSECOND,
    call_of,
    caller_text,
    key_of_tool,
    microseconds,
    tool_of,
)

_TREES_CACHED = 256

# `tree.reset` changes whenever a tree loses calls or gets those of another. `gap.until`: calls of
# the tool that are missing have lower ids. `caller` is [session, agent, user, names of the chain].
TABLES = (
    """CREATE TABLE entry (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tree INTEGER NOT NULL,
        tool TEXT NOT NULL,
        caller TEXT NOT NULL,
        call TEXT,
        at INTEGER,
        outcome TEXT NOT NULL,
        input BLOB NOT NULL,
        output BLOB,
        size INTEGER NOT NULL
    )""",
    "CREATE INDEX entry_tree ON entry (tree, id)",
    """CREATE TABLE gap (
        tree INTEGER NOT NULL,
        tool TEXT NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (tree, tool)
    ) WITHOUT ROWID""",
)

# The column that files of version 5 have: why calls of a tool are missing.
COLUMNS = ("ALTER TABLE gap ADD COLUMN why TEXT",)

_ENTRIES = """
    SELECT id, tool, caller, call, at, outcome, input, output FROM entry
    WHERE tree = ? AND id > ? ORDER BY id
"""
_RUNNING = """
    SELECT id, tool, caller, call, at, ?, input, NULL FROM running
    WHERE tree = ? AND input IS NOT NULL ORDER BY id
"""
_GAPS = "SELECT tool, until, why FROM gap WHERE tree = ?"
_NOT_KEPT = "SELECT DISTINCT tool FROM running WHERE tree = ? AND input IS NULL"
_ADD = """
    INSERT INTO entry (tree, tool, caller, call, at, outcome, input, output, size)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_WIDEN_GAP = """
    INSERT INTO gap (tree, tool, until, why) VALUES (?, ?, ?, ?)
    ON CONFLICT (tree, tool) DO UPDATE SET
        until = max(until, excluded.until),
        why = CASE WHEN excluded.until >= until THEN excluded.why ELSE why END
"""


@dataclass(eq=False, slots=True)
class _Read:
    """The calls of a tree that were read from the file so far, and their ids."""

    reset: int
    ids: list[int] = field(default_factory=list)
    ended: EndedCalls = field(default_factory=lambda: EndedCalls(lock=threading.Lock()))


class CallReader:
    """Reads calls from the file, each once: a call that has ended never changes."""

    def __init__(self) -> None:
        self._trees: OrderedDict[int, _Read] = OrderedDict()

    def read(self, db: sqlite3.Connection, tree: int) -> PastCalls:
        """Return the calls of a tree that are kept."""
        (reset,) = db.execute("SELECT reset FROM tree WHERE id = ?", (tree,)).fetchone()
        known = self._trees.get(tree)
        if known is None or known.reset != reset:
            known = self._trees[tree] = _Read(reset)
        self._trees.move_to_end(tree)
        if len(self._trees) > _TREES_CACHED:
            self._trees.popitem(last=False)
        for row in db.execute(_ENTRIES, (tree, known.ids[-1] if known.ids else 0)):
            known.ended.calls.append(call_of(row))
            known.ids.append(row[0])
        gaps: dict[CalledTool, int] = {}
        reasons: dict[CalledTool, str] = {}
        for tool, until, why in db.execute(_GAPS, (tree,)):
            gaps[tool_of(tool)] = bisect_left(known.ids, until)
            if why is not None:
                reasons[tool_of(tool)] = why
        running = tuple(map(call_of, db.execute(_RUNNING, (RUNNING, tree))))
        latest = len(known.ids) + len(running)
        for (tool,) in db.execute(_NOT_KEPT, (tree,)):
            gaps[tool_of(tool)], reasons[tool_of(tool)] = latest, NOT_READ
        return known.ended.until_now(
            running=running, gaps=MappingProxyType(gaps), reasons=MappingProxyType(reasons)
        )


def running_row(caller: Caller, call: ReleasedCall) -> tuple[Any, ...]:
    """Return the columns tool, at, caller, call and input of a call that runs."""
    return (
        key_of_tool(call.tool),
        microseconds(call.at),
        caller_text(caller),
        None if call.id is None else json.dumps(call.id),
        None if call.input is None else encoded(call.input),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRow:
    """A call that has ended, as the columns of the row that it had while it ran."""

    tree: int
    tool: str
    at: int | None
    caller: str | None
    call: str | None
    input: bytes | None
    outcome: str


def add_ended(
    db: sqlite3.Connection, row: EndedRow, output: CallOutput | None, bounds: KeepingBounds
) -> None:
    """Keep a call that has ended, and forget the oldest of its tree where there are too many."""
    if row.input is None:
        (last,) = db.execute("SELECT COALESCE(MAX(id), 0) FROM entry").fetchone()
        db.execute(_WIDEN_GAP, (row.tree, row.tool, last + 1, NOT_READ))
        return
    returned = None if output is None else encoded_output(output, bounds)
    size = len(row.input) + len(returned or b"")
    db.execute(
        _ADD,
        (row.tree, row.tool, row.caller, row.call, row.at, row.outcome, row.input, returned, size),
    )
    entries, total = db.execute(
        "UPDATE tree SET entries = entries + 1, bytes = bytes + ? WHERE id = ? "
        "RETURNING entries, bytes",
        (size, row.tree),
    ).fetchone()
    if entries > bounds.entries or total > bounds.bytes:
        why = too_many_bytes(bounds) if total > bounds.bytes else too_many_calls(bounds)
        last = _last_to_go(db, row.tree, entries, total, bounds)
        _forget_until(db, row.tree, last, why=why)
    if bounds.retention is not None and row.at is not None:
        since = row.at - bounds.retention // MICROSECOND
        _forget_old(db, row.tree, since, why=too_old(bounds))


def join_calls(db: sqlite3.Connection, other: int, tree: int) -> None:
    """Make the calls of one tree those of another."""
    db.execute("UPDATE entry SET tree = ? WHERE tree = ?", (tree, other))
    for tool, until, why in db.execute(_GAPS, (other,)).fetchall():
        db.execute(_WIDEN_GAP, (tree, tool, until, why))
    db.execute("DELETE FROM gap WHERE tree = ?", (other,))
    db.execute(
        """UPDATE tree SET reset = reset + 1,
            entries = entries + (SELECT entries FROM tree WHERE id = ?1),
            bytes = bytes + (SELECT bytes FROM tree WHERE id = ?1)
        WHERE id = ?2""",
        (other, tree),
    )


def _last_to_go(
    db: sqlite3.Connection, tree: int, entries: int, total: int, bounds: KeepingBounds
) -> int:
    """Return the id of the last call to forget."""
    most_entries = bounds.entries - bounds.entries // PART if entries > bounds.entries else entries
    most_bytes = bounds.bytes - bounds.bytes // PART if total > bounds.bytes else total
    oldest_first = "SELECT id, size FROM entry WHERE tree = ? ORDER BY id"
    last = 0
    for id, size in db.execute(oldest_first, (tree,)):
        last, entries, total = id, entries - 1, total - size
        if entries <= most_entries and total <= most_bytes:
            break
    return last


def _forget_old(db: sqlite3.Connection, tree: int, since: int, *, why: str) -> None:
    kept = db.execute(
        "SELECT id, at FROM entry WHERE tree = ? ORDER BY id LIMIT 1", (tree,)
    ).fetchone()
    if kept is None or kept[1] is None or kept[1] >= since:
        return
    (first,) = db.execute(
        "SELECT MIN(id) FROM entry WHERE tree = ? AND (at IS NULL OR at >= ?)", (tree, since)
    ).fetchone()
    if first is None:
        (last,) = db.execute("SELECT MAX(id) FROM entry WHERE tree = ?", (tree,)).fetchone()
        first = last + 1
    _forget_until(db, tree, first - 1, why=why)


def _forget_until(db: sqlite3.Connection, tree: int, last: int, *, why: str) -> None:
    """Forget the calls of a tree up to this one."""
    gone = "FROM entry WHERE tree = ? AND id <= ?"
    for (tool,) in db.execute(f"SELECT DISTINCT tool {gone}", (tree, last)).fetchall():
        db.execute(_WIDEN_GAP, (tree, tool, last + 1, why))
    count, size = db.execute(f"SELECT COUNT(*), SUM(size) {gone}", (tree, last)).fetchone()
    db.execute(f"DELETE {gone}", (tree, last))
    db.execute(
        "UPDATE tree SET reset = reset + 1, entries = entries - ?, bytes = bytes - ? WHERE id = ?",
        (count, size or 0, tree),
    )
