"""What is charged to budgets, in the file that processes share."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache

from policy.model import (
    LEAST_SLACK,
    NO_TIME,
    Amount,
    Balance,
    Budget,
    CalledTool,
    Charge,
    ReleasedCall,
    TimedAmounts,
    balance_of,
    exact_difference,
    exact_sum,
)
from policy.service.sessions.charging import StoredBudget, by_budget
from policy.service.sessions.stored_calls import (
    amount_of,
    key_of_tool,
    microseconds,
    moment,
    tool_of,
)

# `charge.sum` is the sum of all charges of a budget up to and including this one, in the order of
# time, so that what was charged in a window is a difference. Sums are text, which keeps all digits.
# What no window reaches any more is folded into the budget. A time is in microseconds since 1970;
# `longest` is the longest window that was asked about.
BUDGET_TABLES = (
    """CREATE TABLE budget (
        id INTEGER PRIMARY KEY,
        meter TEXT NOT NULL,
        value TEXT NOT NULL,
        tree INTEGER NOT NULL,
        tool TEXT NOT NULL,
        longest INTEGER NOT NULL DEFAULT 0,
        folded TEXT NOT NULL DEFAULT '0',
        folded_until INTEGER,
        UNIQUE (meter, value, tree, tool)
    )""",
    "CREATE INDEX budget_tree ON budget (tree)",
    """CREATE TABLE charge (
        id INTEGER PRIMARY KEY,
        budget INTEGER NOT NULL,
        at INTEGER NOT NULL,
        sum TEXT NOT NULL
    )""",
    "CREATE INDEX charge_budget ON charge (budget, at, id)",
)
_FOLDED_EVERY = 64


def stored_balance(
    db: sqlite3.Connection, charge: Charge, now: datetime | None, *, tree: int | None
) -> Balance:
    """Return the balance of a budget before a charge; `tree` None: the session tree is new."""
    if charge.budget.of_tree and tree is None:
        return balance_of((), charge, now)
    rows = db.execute(
        "SELECT tool, id, folded, folded_until FROM budget "
        "WHERE meter = ? AND value = ? AND tree = ?",
        _key(charge.budget, tree),
    )
    counted = [
        StoredSpending(db, *row) for tool, *row in rows.fetchall() if charge.counts(tool_of(tool))
    ]
    return balance_of(counted, charge, now)


def make_charges(
    db: sqlite3.Connection, call: ReleasedCall, charges: Iterable[Charge], *, tree: int
) -> str | None:
    """Charge a call, whether there is room or not; return the ids of its charges, if any."""
    at = _stored(call.at or NO_TIME)
    tool = key_of_tool(call.tool)
    made: list[int] = []
    for one in by_budget(charges):
        id = _budget(db, one.budget, tool, tree=tree, longest=_length(one.window))
        made.append(_add(db, id, at, one.amount))
        if made[-1] % _FOLDED_EVERY == 0 and call.at is not None:
            _fold(db, id, at)
    return json.dumps(made) if made else None


def take_back(db: sqlite3.Connection, made: str) -> None:
    """Undo charges, but for those that have been folded since."""
    for id in json.loads(made):
        found = db.execute("SELECT budget, at, sum FROM charge WHERE id = ?", (id,)).fetchone()
        if found is None:
            continue
        budget, at, total = found
        amount = exact_difference(amount_of(total), _sum_before(db, budget, at, id))
        db.execute("DELETE FROM charge WHERE id = ?", (id,))
        _change_later(db, budget, at, id, exact_difference(0, amount))


def join_budgets(db: sqlite3.Connection, other: int, tree: int) -> None:
    """Add what was charged in one session tree to another."""
    rows = db.execute(
        "SELECT id, meter, value, tool, longest, folded, folded_until FROM budget WHERE tree = ?",
        (other,),
    )
    for id, meter, value, tool, longest, folded, until in rows.fetchall():
        into = _made(db, (meter, value, tree, tool), longest)
        for at, amount in StoredSpending(db, id, folded, until).all():
            _add(db, into, _stored(at), amount)
        db.execute("DELETE FROM charge WHERE budget = ?", (id,))
        db.execute("DELETE FROM budget WHERE id = ?", (id,))


def stored_budgets(db: sqlite3.Connection, meters: Iterable[str]) -> Iterator[StoredBudget]:
    """Yield the budgets of some meters, with a copy of what was charged to them by each tool."""
    for meter in dict.fromkeys(meters):
        rows = db.execute(
            "SELECT value, tree, tool, id, folded, folded_until FROM budget WHERE meter = ? "
            "ORDER BY tree, value, id",
            (_digest(meter),),
        ).fetchall()
        found: dict[tuple[str, int], dict[CalledTool, TimedAmounts]] = {}
        for value, tree, tool, *row in rows:
            amounts = found.setdefault((value, tree), {})[tool_of(tool)] = TimedAmounts()
            for at, amount in StoredSpending(db, *row).all():
                amounts.add(at, amount)
        for (value, tree), spent in found.items():
            budget = Budget(meter=meter, value=json.loads(value), of_tree=tree != 0)
            yield StoredBudget(budget=budget, spent=spent, tree=tree, sessions=_sessions(db, tree))


def _sessions(db: sqlite3.Connection, tree: int) -> tuple[tuple[str | None, str], ...]:
    rows = db.execute("SELECT key FROM session WHERE tree = ? ORDER BY rowid", (tree,)).fetchall()
    return tuple((user, session) for user, session in (json.loads(key) for (key,) in rows))


class StoredSpending:
    """A `Spending` in the file."""

    def __init__(
        self, db: sqlite3.Connection, budget: int, folded: str, folded_until: int | None
    ) -> None:
        self._db = db
        self._budget = budget
        self._folded = amount_of(folded)
        self._until = folded_until

    def total(self) -> Amount:
        """Return everything that was charged."""
        return self._sum_at(_stored(NO_TIME), self._folded)

    def until(self, moment: datetime) -> Amount:
        """Return what was charged at this moment or before; nothing if a part of it is folded."""
        at = _stored(moment)
        is_folded = self._until is not None and self._until <= at
        return self._sum_at(at, self._folded if is_folded else 0)

    def after(self, moment: datetime) -> Iterator[tuple[datetime, Amount]]:
        """Yield the charges after a moment, oldest first; folded ones together, if one is later."""
        yield from self._after(_stored(moment))

    def all(self) -> Iterator[tuple[datetime, Amount]]:
        """Yield all charges, folded ones together."""
        yield from self._after(None)

    def _after(self, start: int | None) -> Iterator[tuple[datetime, Amount]]:
        if self._until is not None and (start is None or self._until > start):
            yield _moment(self._until), self._folded
        before = self._folded if start is None else self._sum_at(start, self._folded)
        rows = self._db.execute(
            "SELECT at, sum FROM charge WHERE budget = ? AND at > ? ORDER BY at, id",
            (self._budget, -(2**63) if start is None else start),
        )
        for at, text in rows:
            total = amount_of(text)
            yield _moment(at), exact_difference(total, before)
            before = total

    def _sum_at(self, at: int, otherwise: Amount) -> Amount:
        row = self._db.execute(_SUM_AT, (self._budget, at)).fetchone()
        return otherwise if row is None else amount_of(row[0])


_SUM_AT = "SELECT sum FROM charge WHERE budget = ? AND at <= ? ORDER BY at DESC, id DESC LIMIT 1"


# ------------------------------------------------------------------ rows


def _budget(db: sqlite3.Connection, budget: Budget, tool: str, *, tree: int, longest: int) -> int:
    return _made(db, (*_key(budget, tree), tool), longest)


def _made(db: sqlite3.Connection, key: tuple[object, ...], longest: int) -> int:
    """Return the id of a budget, which is made if there is none."""
    found = db.execute(
        "SELECT id, longest FROM budget WHERE meter = ? AND value = ? AND tree = ? AND tool = ?",
        key,
    ).fetchone()
    if found is None:
        id = db.execute(
            "INSERT INTO budget (meter, value, tree, tool, longest) VALUES (?, ?, ?, ?, ?)",
            (*key, longest),
        ).lastrowid
        assert id is not None
        return id
    id, known = found
    if longest > known:
        db.execute("UPDATE budget SET longest = ? WHERE id = ?", (longest, id))
    return int(id)


def _add(db: sqlite3.Connection, budget: int, at: int, amount: Amount) -> int:
    folded, until = _folded(db, budget)
    # What is folded counts as one, so nothing can be older than a part of it.
    at = at if until is None else max(at, until)
    row = db.execute(_SUM_AT, (budget, at)).fetchone()
    before = folded if row is None else amount_of(row[0])
    id = db.execute(
        "INSERT INTO charge (budget, at, sum) VALUES (?, ?, ?)",
        (budget, at, str(exact_sum(before, amount))),
    ).lastrowid
    assert id is not None
    _change_later(db, budget, at, id, amount)
    return id


def _change_later(db: sqlite3.Connection, budget: int, at: int, id: int, amount: Amount) -> None:
    """Add an amount to the sums after a charge; there are some only if a clock was set back."""
    later = db.execute(
        "SELECT id, sum FROM charge WHERE budget = ? AND (at > ? OR at = ? AND id > ?)",
        (budget, at, at, id),
    ).fetchall()
    db.executemany(
        "UPDATE charge SET sum = ? WHERE id = ?",
        [(str(exact_sum(amount_of(text), amount)), each) for each, text in later],
    )


def _sum_before(db: sqlite3.Connection, budget: int, at: int, id: int) -> Amount:
    row = db.execute(
        "SELECT sum FROM charge WHERE budget = ? AND (at < ? OR at = ? AND id < ?) "
        "ORDER BY at DESC, id DESC LIMIT 1",
        (budget, at, at, id),
    ).fetchone()
    return _folded(db, budget)[0] if row is None else amount_of(row[0])


def _folded(db: sqlite3.Connection, budget: int) -> tuple[Amount, int | None]:
    row = db.execute("SELECT folded, folded_until FROM budget WHERE id = ?", (budget,)).fetchone()
    return amount_of(row[0]), row[1]


def _fold(db: sqlite3.Connection, budget: int, now: int) -> None:
    """Fold what no window can reach any more."""
    longest = db.execute("SELECT longest FROM budget WHERE id = ?", (budget,)).fetchone()[0]
    horizon = now - longest - max(longest, _length(LEAST_SLACK))
    last = db.execute(
        "SELECT at, sum FROM charge WHERE budget = ? AND at <= ? ORDER BY at DESC, id DESC LIMIT 1",
        (budget, horizon),
    ).fetchone()
    if last is None:
        return
    at, total = last
    db.execute("DELETE FROM charge WHERE budget = ? AND at <= ?", (budget, horizon))
    db.execute(
        "UPDATE budget SET folded = ?, folded_until = MAX(COALESCE(folded_until, ?), ?) "
        "WHERE id = ?",
        (total, at, at, budget),
    )


# ------------------------------------------------------------------ values as they are stored


def _key(budget: Budget, tree: int | None) -> tuple[str, str, int]:
    of_tree = (tree or 0) if budget.of_tree else 0
    return _digest(budget.meter), json.dumps(budget.value), of_tree


@lru_cache(maxsize=1024)
def _digest(meter: str) -> str:
    return hashlib.sha256(meter.encode()).hexdigest()[:32]


def _length(window: timedelta | None) -> int:
    # A window as long as this is longer than any that a clock can reach.
    return 0 if window is None else min(window // timedelta(microseconds=1), 2**58)


def _stored(at: datetime) -> int:
    stored = microseconds(at)
    assert stored is not None
    return stored


def _moment(stored: int) -> datetime:
    at = moment(stored)
    assert at is not None
    return at
