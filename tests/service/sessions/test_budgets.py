"""Budgets in the logs of sessions, held against a plain list of all charges."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.model import (
    Balance,
    Budget,
    CalledTool,
    Caller,
    Charge,
    Reason,
    ReleasedCall,
    TimedAmounts,
    Verdict,
    balance_of,
)
from policy.service.sessions import (
    MemorySessionLog,
    SessionLog,
    SessionLogUnusable,
    SqliteSessionLog,
)
from policy.service.sessions.charging import by_budget
from policy.service.sessions.memory_budgets import MemoryBudgets
from tests.examples import examples

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
FETCH, MAIL = (CalledTool(name=name, kind="host") for name in ("fetch", "mail"))
ADA = Caller(session="a", user="ada")


def limit(
    capacity: int | Decimal = 2,
    *,
    window: timedelta | None = MINUTE,
    amount: int | Decimal = 1,
    tools: tuple[CalledTool, ...] = (FETCH,),
    shadow: bool = False,
    **budget: Any,
) -> Charge:
    return Charge(
        budget=Budget(**{"meter": "calls", **budget}),
        amount=amount,
        capacity=capacity,
        window=window,
        counts=tools.__contains__,
        reason=Reason(rule="few", verdict=Verdict.DENY, shadow=shadow),
    )


def released(
    log: SessionLog,
    *charges: Charge,
    caller: Caller = ADA,
    tool: CalledTool = FETCH,
    at: datetime | None = NOON,
) -> Any:
    call = ReleasedCall(tool=tool, at=at)
    return log.release(caller, call, judged_by=None, charges=charges)


def test_calls_are_released_until_nothing_is_left(log: SessionLog) -> None:
    few = limit()
    assert released(log, few) is not None
    assert log.balance(ADA, few, NOON) == Balance(used=1, wait=0)
    assert released(log, few, at=NOON + timedelta(seconds=20)) is not None
    assert released(log, few, at=NOON + timedelta(seconds=59)) is None
    later = log.balance(ADA, few, NOON + timedelta(seconds=59))
    assert later == Balance(used=2, wait=1)
    assert released(log, few, at=NOON + MINUTE) is not None
    assert released(log, few, at=NOON + MINUTE) is None


def test_a_call_is_charged_to_all_of_its_budgets_or_to_none(log: SessionLog) -> None:
    few, ada = limit(1), limit(5, meter="users", value="ada")
    assert released(log, ada, few) is not None
    assert released(log, ada, few) is None
    assert log.balance(ADA, ada, NOON).used == 1


def test_limits_that_share_a_budget_count_a_call_once(log: SessionLog) -> None:
    per_minute, ever = limit(3), limit(2, window=None)
    assert released(log, per_minute, ever) is not None
    assert released(log, per_minute, ever) is not None
    assert log.balance(ADA, per_minute, NOON).used == 2
    assert released(log, per_minute, ever) is None
    assert log.balance(ADA, ever, NOON) == Balance(used=2, wait=None)


def test_a_limit_counts_what_its_tools_have_charged(log: SessionLog) -> None:
    both = limit(2, tools=(FETCH, MAIL))
    assert released(log, both) is not None
    assert released(log, both, tool=MAIL) is not None
    assert released(log, both) is None
    # The limit is edited: it has one tool left, whose calls still count.
    assert log.balance(ADA, limit(2), NOON).used == 1
    assert released(log, limit(2)) is not None
    assert released(log, limit(2)) is None


def test_another_number_or_window_frees_nothing(log: SessionLog) -> None:
    assert released(log, limit(1)) is not None
    assert log.balance(ADA, limit(5), NOON).used == 1
    day = limit(1, window=timedelta(days=1))
    assert log.balance(ADA, day, NOON + timedelta(hours=23)).used == 1
    assert not log.balance(ADA, day, NOON + timedelta(hours=23)).has_room


def test_a_call_that_never_reached_its_tool_is_not_charged(log: SessionLog) -> None:
    few, sum_ = limit(1), limit(10, meter="sum", amount=Decimal("9.5"))
    release = released(log, few, sum_)
    assert released(log, few) is None
    log.finish(release, None)
    assert log.balance(ADA, sum_, NOON).used == 0
    assert released(log, few, sum_) is not None


def test_a_charge_stays_whatever_comes_of_the_call(log: SessionLog) -> None:
    for outcome in ("failed", "timeout", "cancelled", "running", "ok"):
        log.finish(released(log, limit(10)), outcome)
    assert log.balance(ADA, limit(10), NOON).used == 5


def test_a_clock_that_is_set_back_frees_nothing(log: SessionLog) -> None:
    few = limit(1)
    assert released(log, few, at=NOON + timedelta(days=1)) is not None
    assert released(log, few, at=NOON) is None
    assert released(log, few, at=NOON + timedelta(days=1, seconds=61)) is not None
    assert released(log, few, at=None) is None


def test_a_charge_without_a_time_counts_in_every_window(log: SessionLog) -> None:
    few = limit(1)
    assert released(log, few, at=None) is not None
    assert log.balance(ADA, few, NOON) == Balance(used=1, wait=None)


def test_a_session_tree_has_its_own_budgets_and_trees_that_meet_share_them(log: SessionLog) -> None:
    tree = limit(3, of_tree=True)
    one, two = Caller(session="one"), Caller(session="two")
    assert released(log, tree, caller=one) is not None
    assert released(log, tree, caller=two) is not None
    assert released(log, tree, caller=two, tool=MAIL) is not None
    assert log.balance(one, tree, NOON).used == 1
    below = replace(two, parent=one)
    assert log.balance(below, tree, NOON).used == 2
    assert log.balance(one, limit(3, tools=(FETCH, MAIL), of_tree=True), NOON).used == 3
    assert released(log, tree, caller=two) is not None
    assert released(log, tree, caller=one) is None


def test_a_shadow_limit_counts_and_refuses_nothing(log: SessionLog) -> None:
    shadow = limit(1, shadow=True)
    assert released(log, shadow) is not None
    assert released(log, shadow) is not None
    assert log.balance(ADA, limit(1), NOON).used == 2


def test_amounts_keep_all_their_digits(log: SessionLog) -> None:
    tenth = limit(Decimal("0.3"), amount=Decimal("0.1"))
    for _ in range(3):
        assert released(log, tenth) is not None
    assert released(log, limit(Decimal("0.3"), amount=Decimal("1e-300"))) is None
    huge = limit(10**400, meter="huge", amount=10**300)
    assert released(log, huge) is not None
    assert released(log, replace(huge, amount=Decimal("1e-300"))) is not None
    used = log.balance(ADA, huge, NOON).used
    assert Fraction(str(used)) == 10**300 + Fraction(1, 10**300)


def test_a_forgotten_session_has_no_room() -> None:
    log = MemorySessionLog(most=2)
    tree = limit(5, of_tree=True)
    for name in "abcd":
        release = released(log, tree, caller=Caller(session=name))
        log.finish(release, "ok")
    back = log.balance(Caller(session="a"), tree, NOON)
    assert not back.has_room
    assert "forgotten" in (back.unknown or "")
    assert released(log, tree, caller=Caller(session="a")) is None
    assert released(log, limit(), caller=Caller(session="a")) is not None


def test_a_session_that_began_elsewhere_has_no_room(log: SessionLog) -> None:
    tree = limit(5, of_tree=True)
    log.hear(ADA, ("go on",), missed=True)
    assert "began before" in (log.balance(ADA, tree, NOON).unknown or "")
    assert released(log, tree) is None
    assert released(log, limit()) is not None


def test_too_many_budgets_in_memory_refuse_new_ones_and_drop_old_ones() -> None:
    budgets = MemoryBudgets(most=20)
    for number in range(10):
        budgets.charge(FETCH, NOON, by_budget([limit(value=str(number))]))
    with pytest.raises(SessionLogUnusable, match="too many budgets"):
        budgets.charge(FETCH, NOON, by_budget([limit(value="x")]))
    budgets.charge(FETCH, NOON, by_budget([limit(value="1")]))
    budgets.charge(FETCH, NOON + timedelta(days=1), by_budget([limit(value="x")]))
    assert budgets.balance(limit(value="1"), NOON).used == 0


def test_one_caller_leaves_budgets_for_others_and_none_of_its_own_are_forgotten() -> None:
    budgets = MemoryBudgets(most=32)
    for number in range(16):
        budgets.charge(FETCH, NOON, by_budget([limit(value=str(number))]), owner="greedy")
    for owner in ("ada", "bob"):
        two = [limit(value=f"{owner} {number}") for number in range(2)]
        budgets.charge(FETCH, NOON, by_budget(two), owner=owner)
        with pytest.raises(SessionLogUnusable, match="too many budgets"):
            budgets.charge(FETCH, NOON, by_budget([limit(value=f"{owner} 3")]), owner=owner)
    with pytest.raises(SessionLogUnusable, match="too many budgets"):
        budgets.charge(FETCH, NOON, by_budget([limit(value="more")]), owner="greedy")
    assert all(budgets.balance(limit(value=str(n)), NOON).used == 1 for n in range(16))


def test_a_budget_that_counts_for_ever_is_not_dropped() -> None:
    budgets = MemoryBudgets(most=4)
    shared = [limit(value="kept"), limit(value="kept", window=None)]
    budgets.charge(FETCH, NOON, by_budget(shared))
    for day in range(1, 4):
        budgets.charge(FETCH, NOON + timedelta(days=day), by_budget([limit(value=str(day))]))
    assert budgets.balance(shared[1], NOON + timedelta(days=4)).used == 1


def test_budgets_outlive_the_process_and_are_shared(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with closing(SqliteSessionLog(path)) as first, closing(SqliteSessionLog(path)) as second:
        assert released(first, limit(2)) is not None
        assert released(second, limit(2)) is not None
        assert released(first, limit(2)) is None
    with closing(SqliteSessionLog(path)) as third:
        assert released(third, limit(2)) is None


def test_a_file_that_cannot_be_written_releases_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with closing(SqliteSessionLog(path)) as log:
        assert released(log, limit()) is not None
        log._connection.execute("PRAGMA query_only=ON")
        with pytest.raises(SessionLogUnusable):
            released(log, limit())
        assert log.balance(ADA, limit(), NOON).used == 1
        log._connection.execute("PRAGMA query_only=OFF")
        pages = log._connection.execute("PRAGMA page_count").fetchone()[0]
        log._connection.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(SessionLogUnusable, match="full"):
            released(log, limit(value="x" * 100_000))


def test_a_damaged_sum_is_no_sum(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with closing(SqliteSessionLog(path)) as log:
        assert released(log, limit()) is not None
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE charge SET sum = 'many'")
        with pytest.raises(SessionLogUnusable):
            released(log, limit())
        with pytest.raises(SessionLogUnusable):
            log.balance(ADA, limit(), NOON)


def test_old_charges_are_folded_and_count_as_one(log: SessionLog) -> None:
    few = limit(10**6)
    hour = timedelta(hours=1)
    for number in range(400):
        assert released(log, few, at=NOON + number * MINUTE) is not None
    late = NOON + 399 * MINUTE
    assert log.balance(ADA, few, late).used == 1
    assert log.balance(ADA, replace(few, window=None), late).used == 400
    # What is folded counts as long as a part of it could: more than was charged, never less.
    for window in (hour, 3 * hour, 6 * hour):
        used = log.balance(ADA, replace(few, window=window), late).used
        assert used is not None
        assert used >= window // MINUTE
    assert log.balance(ADA, few, NOON).used == 400


# ------------------------------------------------------------------ laws


@dataclass(frozen=True, slots=True)
class _Made:
    tool: CalledTool
    at: datetime | None
    charges: tuple[Charge, ...]
    sessions: frozenset[str]


@dataclass(slots=True)
class _Plain:
    """All charges in a list, which is read from the start for every question."""

    made: list[_Made] = field(default_factory=list)
    trees: list[set[str]] = field(default_factory=list)

    def tree(self, caller: Caller) -> frozenset[str]:
        """Return the sessions of the caller's tree, with all trees joined that meet in it."""
        met = {one.session for one in caller.chain()}
        for tree in [tree for tree in self.trees if tree & met]:
            self.trees.remove(tree)
            met |= tree
        self.trees.append(met)
        return frozenset(met)

    def used(self, caller: Caller, charge: Charge, now: datetime | None) -> Fraction:
        """Return what was charged in the window of a limit."""
        tree = self.tree(caller)
        total = Fraction(0)
        for made in self.made:
            if not charge.counts(made.tool):
                continue
            if charge.budget.of_tree and not (made.sessions & tree):
                continue
            age = None if made.at is None or now is None else max(now - made.at, timedelta())
            if charge.window is not None and age is not None and age >= charge.window:
                continue
            amounts = [Fraction(one.amount) for one in made.charges if one.budget == charge.budget]
            total += max(amounts, default=Fraction(0))
        return total

    def has_room(self, caller: Caller, charge: Charge, now: datetime | None) -> bool:
        """Return whether a limit has room for a charge."""
        used = self.used(caller, charge, now)
        return used + Fraction(charge.amount) <= Fraction(charge.capacity)


_CALLERS = (
    Caller(session="a"),
    Caller(session="b"),
    Caller(session="c", parent=Caller(session="a")),
    Caller(session="b", parent=Caller(session="d")),
)
_AMOUNTS: tuple[int | Decimal, ...] = (0, 1, 2, Decimal("0.1"), Decimal("2.50"))
_CAPACITIES: tuple[int | Decimal, ...] = (1, 3, Decimal("4.3"))


@st.composite
def _charges(draw: st.DrawFn) -> Charge:
    return limit(
        draw(st.sampled_from(_CAPACITIES)),
        window=draw(st.sampled_from((MINUTE, 10 * MINUTE, None))),
        amount=draw(st.sampled_from(_AMOUNTS)),
        tools=draw(st.sampled_from(((FETCH,), (MAIL,), (FETCH, MAIL)))),
        meter=draw(st.sampled_from("mn")),
        value=draw(st.sampled_from(("x", None))),
        of_tree=draw(st.booleans()),
    )


# A call with its budgets, how long after the last one (a clock may be set back), and whether it
# reaches its tool.
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(_CALLERS),
        st.sampled_from((FETCH, MAIL)),
        st.sampled_from((None, 0, 20, 59, 60, 300, -45)),
        st.lists(_charges(), min_size=1, max_size=3).map(tuple),
        st.booleans(),
    ),
    max_size=15,
)


def _agrees(log: SessionLog, steps: list[Any]) -> None:
    plain, now = _Plain(), NOON
    for caller, tool, seconds, charges, reaches in steps:
        now += timedelta(seconds=seconds or 0)
        at = None if seconds is None else now
        for charge in charges:
            expected = plain.used(caller, charge, at)
            found = log.balance(caller, charge, at)
            assert Fraction(found.used or 0) == expected
            assert found.has_room == plain.has_room(caller, charge, at)
            _frees_when_it_says(plain, found, caller, charge, at)
        fits = all(plain.has_room(caller, charge, at) for charge in charges)
        release = released(log, *charges, caller=caller, tool=tool, at=at)
        assert (release is not None) == fits
        if release is not None:
            log.finish(release, "ok" if reaches else None)
            if reaches:
                plain.made.append(_Made(tool, at, charges, plain.tree(caller)))


def _frees_when_it_says(
    plain: _Plain, found: Balance, caller: Caller, charge: Charge, at: datetime | None
) -> None:
    """With nothing charged meanwhile there is room after the wait, and not before."""
    if found.wait is None or found.wait == 0 or at is None:
        return
    then = at + timedelta(seconds=found.wait)
    assert plain.has_room(caller, charge, then)
    assert not plain.has_room(caller, charge, then - timedelta(milliseconds=1))


@settings(max_examples=examples(300), deadline=None)
@given(_STEPS)
def test_the_memory_agrees_with_a_list_of_all_charges(steps: list[Any]) -> None:
    _agrees(MemorySessionLog(), steps)


@settings(max_examples=examples(60), deadline=None)
@given(_STEPS)
def test_the_file_agrees_with_a_list_of_all_charges(steps: list[Any]) -> None:
    with (
        TemporaryDirectory() as folder,
        closing(SqliteSessionLog(Path(folder) / "history.sqlite")) as log,
    ):
        _agrees(log, steps)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=200), st.integers(0, 20_000))
def test_folding_never_lets_less_be_used(minutes: list[int], now: int) -> None:
    folded, kept = TimedAmounts(), TimedAmounts()
    for minute in minutes:
        for amounts in (folded, kept):
            amounts.add(NOON + minute * MINUTE, 1)
        folded.fold(60 * MINUTE, NOON + minute * MINUTE)
    ask: Callable[[TimedAmounts], Balance] = lambda amounts: balance_of(  # noqa: E731
        [amounts], limit(0, window=60 * MINUTE), NOON + now * MINUTE
    )
    assert (ask(folded).used or 0) >= (ask(kept).used or 0)
