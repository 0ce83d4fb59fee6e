"""The log of session trees, held against a list of all calls that is read from the beginning."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.model import (
    CalledTool,
    Caller,
    CallOutput,
    History,
    Outcome,
    PastCall,
    PastCalls,
    ReleasedCall,
    history_of,
)
from policy.service.sessions import (
    KeepingBounds,
    MemorySessionLog,
    SessionLog,
    SessionLogUnusable,
    SqliteSessionLog,
)
from tests.examples import examples

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
FETCH, MAIL = (CalledTool(name=name, kind="host") for name in ("fetch", "mail"))


def call(tool: CalledTool, at: datetime | None) -> ReleasedCall:
    return ReleasedCall(tool=tool, at=at)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def test_a_call_runs_until_it_is_finished(log: SessionLog) -> None:
    ada = Caller(session="a")
    release = log.release(ada, call(FETCH, NOON), judged_by=None)
    assert release is not None
    assert log.history(ada).tools[FETCH].unsure.latest == NOON
    assert log.history(ada).tools[FETCH].succeeded.latest is None
    log.finish(release, "ok")
    assert log.history(ada).tools[FETCH].unsure.latest is None
    assert log.history(ada).tools[FETCH].succeeded.latest == NOON


def test_a_call_that_never_reached_its_tool_leaves_nothing(log: SessionLog) -> None:
    ada = Caller(session="a")
    release = log.release(ada, call(FETCH, NOON), judged_by=None)
    assert release is not None
    log.finish(release, None)
    assert log.history(ada) == History()


def test_a_call_is_not_released_by_a_history_that_has_changed(log: SessionLog) -> None:
    ada = Caller(session="a")
    seen = log.history(ada)
    other = log.release(ada, call(FETCH, NOON), judged_by=None)
    assert other is not None
    assert log.release(ada, call(MAIL, NOON), judged_by=seen) is None
    assert log.release(ada, call(MAIL, NOON), judged_by=log.history(ada)) is not None


def test_sessions_of_two_users_with_one_name_are_two(log: SessionLog) -> None:
    ada, bob = Caller(session="a", user="ada"), Caller(session="a", user="bob")
    assert log.release(ada, call(FETCH, NOON), judged_by=None) is not None
    assert log.history(bob) == History()


def test_a_session_stays_in_the_tree_that_it_was_seen_in(log: SessionLog) -> None:
    root = Caller(session="root")
    log.history(Caller(session="child", parent=root))
    assert log.release(root, call(FETCH, NOON), judged_by=None) is not None
    assert FETCH in log.history(Caller(session="child")).tools


def test_a_forgotten_session_is_not_taken_for_a_new_one() -> None:
    log = MemorySessionLog(most=2)
    for name in ("a", "b", "c"):
        assert log.history(Caller(session=name)).unknown is None
    assert "forgotten" in str(log.history(Caller(session="a")).unknown)
    assert log.history(Caller(session="c")).unknown is None


def test_a_caller_that_opens_sessions_without_end_forgets_its_own() -> None:
    log = MemorySessionLog(most=32)
    ada = Caller(session="ada", user="ada")
    assert log.release(ada, call(FETCH, NOON), judged_by=None) is not None
    for number in range(100):
        log.history(Caller(session=str(number), user="greedy"))
    assert log.history(ada).unknown is None
    assert "forgotten" in str(log.history(Caller(session="0", user="greedy")).unknown)
    assert log.history(Caller(session="new", user="bob")).unknown is None


def test_a_session_with_a_running_call_is_kept() -> None:
    log, busy = MemorySessionLog(most=2), Caller(session="busy")
    release = log.release(busy, call(FETCH, NOON), judged_by=None)
    assert release is not None
    for name in ("a", "b", "c", "d"):
        log.history(Caller(session=name))
    log.finish(release, "ok")
    history = log.history(busy)
    assert (history.unknown, history.tools[FETCH].succeeded.latest) == (None, NOON)


# ------------------------------------------------------------------ the file


def test_a_history_outlives_the_process_that_wrote_it(tmp_path: Path) -> None:
    path, ada = tmp_path / "history.sqlite", Caller(session="a", user="ada")
    first = SqliteSessionLog(path)
    ended = first.release(ada, call(FETCH, NOON), judged_by=None)
    assert ended is not None
    first.release(ada, call(MAIL, at(1)), judged_by=None)
    first.finish(ended, "ok")
    seen = first.history(ada)
    first.close()
    second = SqliteSessionLog(path)
    assert second.history(ada) == seen
    assert seen.tools[FETCH].succeeded.latest == NOON
    assert seen.tools[MAIL].unsure.latest == at(1)
    second.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_logs_of_one_file_see_each_other(tmp_path: Path) -> None:
    path, ada = tmp_path / "history.sqlite", Caller(session="a")
    first, second = SqliteSessionLog(path), SqliteSessionLog(path)
    seen = second.history(ada)
    assert first.release(ada, call(FETCH, NOON), judged_by=None) is not None
    assert second.release(ada, call(MAIL, NOON), judged_by=seen) is None
    first.close()
    second.close()


@pytest.mark.parametrize("contents", [b"no database", b"SQLite format 3\0" + b"x" * 100])
def test_a_file_that_is_no_history_cannot_be_used(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "history.sqlite"
    path.write_bytes(contents)
    with pytest.raises(SessionLogUnusable, match="cannot be kept in"):
        SqliteSessionLog(path)
    assert path.read_bytes() == contents


@pytest.mark.parametrize("is_emptied", [False, True])
def test_a_history_that_was_deleted_does_not_begin_anew(tmp_path: Path, is_emptied: bool) -> None:
    path = tmp_path / "history.sqlite"
    SqliteSessionLog(path).close()
    SqliteSessionLog(path).close()
    path.write_bytes(b"") if is_emptied else path.unlink()
    with pytest.raises(SessionLogUnusable, match=r"deleted or emptied.* delete .*-created too"):
        SqliteSessionLog(path)
    assert is_emptied == path.exists()
    path.unlink(missing_ok=True)
    (tmp_path / "history.sqlite-created").unlink()
    with closing(SqliteSessionLog(path)) as log:
        assert log.history(Caller()).unknown is None


def test_a_file_that_a_newer_version_has_changed_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with closing(SqliteSessionLog(path)) as log:
        with closing(sqlite3.connect(path)) as newer:
            newer.execute("PRAGMA user_version=999")
        for use in (lambda: log.history(Caller()), lambda: log.hear(Caller(), (), missed=False)):
            with pytest.raises(SessionLogUnusable, match="a newer version"):
                use()


def test_the_beginning_of_a_session_that_is_resumed_is_not_known(log: SessionLog) -> None:
    resumed = Caller(session="resumed")
    assert log.hear(resumed, ("go on",), missed=True)
    assert "began before" in (log.history(resumed).unknown or "")
    release = log.release(resumed, call(FETCH, None), judged_by=None)
    log.finish(release, "ok")
    assert log.history(resumed).tools[FETCH].succeeded.untimed
    assert "began before" in (log.history(resumed).unknown or "")
    # So are trees that it is a part of, and no others.
    below = Caller(session="b", parent=resumed)
    assert "began before" in (log.history(below).unknown or "")
    assert log.history(Caller(session="c")).unknown is None


def test_calls_that_are_known_stay_known_when_messages_are_missed(log: SessionLog) -> None:
    log.release(Caller(), call(FETCH, None), judged_by=None)
    log.hear(Caller(), ("hello",), missed=True)
    assert log.history(Caller()).unknown is None


def test_a_file_that_is_replaced_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    log = SqliteSessionLog(path)
    path.unlink()
    with pytest.raises(SessionLogUnusable, match="deleted or replaced"):
        log.history(Caller())
    log.close()


def test_names_of_sessions_and_tools_may_be_any_text(tmp_path: Path) -> None:
    log = SqliteSessionLog(tmp_path / "history.sqlite")
    odd = Caller(session="a\0\ud800'", user='"')
    tool = CalledTool(name="é\u202e", kind="mcp", server="s")
    release = log.release(odd, call(tool, None), judged_by=None)
    assert release is not None
    log.finish(release, "ok")
    assert log.history(odd).tools[tool].succeeded.untimed
    log.close()


def test_a_file_of_version_1_goes_on_being_used(tmp_path: Path) -> None:
    path, key = tmp_path / "history.sqlite", json.dumps((None, "a"))
    with closing(sqlite3.connect(path)) as old:
        for statement in _VERSION_1:
            old.execute(statement)
        old.execute("INSERT INTO tree DEFAULT VALUES")
        old.execute("INSERT INTO session VALUES (?, 1)", (key,))
        fetch, mail = (json.dumps((tool.name, tool.kind, tool.server)) for tool in (FETCH, MAIL))
        old.execute("INSERT INTO called VALUES (1, ?, 5, 0, NULL, 0)", (fetch,))
        old.execute("INSERT INTO running (tree, tool, at) VALUES (1, ?, 6)", (mail,))
        old.execute(f"PRAGMA application_id={0x706C6373}")
        old.execute("PRAGMA user_version=1")
        old.commit()
    for _ in range(2):
        log = SqliteSessionLog(path)
        seen = log.history(Caller(session="a"))
        assert seen.tools[FETCH].succeeded.latest is not None
        assert seen.tools[MAIL].unsure.latest is not None
        # Of calls that were made before, nothing is known one by one.
        assert (seen.kept.length, dict(seen.kept.gaps)) == (0, {FETCH: 0, MAIL: 0})
        log.close()


def test_a_file_of_version_4_goes_on_being_used(tmp_path: Path) -> None:
    path, ada = tmp_path / "history.sqlite", Caller(session="a")
    with closing(SqliteSessionLog(path)) as log:
        log.hear(ada, ("hello",), missed=False)
    with closing(sqlite3.connect(path)) as old:
        for column in ("hearing DROP COLUMN missing", "hearing DROP COLUMN forgotten"):
            old.execute(f"ALTER TABLE {column}")
        old.execute("ALTER TABLE gap DROP COLUMN why")
        old.execute("PRAGMA user_version=4")
    with closing(SqliteSessionLog(path)) as log:
        found = log.said(ada)
        assert not isinstance(found, str)
        assert (found.texts, found.missing, found.forgotten) == (("hello",), None, 0)


def test_a_file_of_a_later_version_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    SqliteSessionLog(path).close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version=99")
    with pytest.raises(SessionLogUnusable, match="newer version"):
        SqliteSessionLog(path)


_VERSION_1 = (
    "CREATE TABLE tree (id INTEGER PRIMARY KEY AUTOINCREMENT)",
    "CREATE TABLE session (key TEXT PRIMARY KEY, tree INTEGER NOT NULL)",
    "CREATE INDEX session_tree ON session (tree)",
    """CREATE TABLE called (
        tree INTEGER NOT NULL,
        tool TEXT NOT NULL,
        succeeded INTEGER,
        succeeded_untimed INTEGER NOT NULL,
        unsure INTEGER,
        unsure_untimed INTEGER NOT NULL,
        PRIMARY KEY (tree, tool)
    ) WITHOUT ROWID""",
    """CREATE TABLE running (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tree INTEGER NOT NULL,
        tool TEXT NOT NULL,
        at INTEGER
    )""",
    "CREATE INDEX running_tree ON running (tree)",
)


# ------------------------------------------------------------------ calls that are kept


def ended(log: SessionLog, minute: int, output: CallOutput | None = None) -> PastCalls:
    ada = Caller(session="a", agent="helper", user="ada", parent=Caller(session="root"))
    one = ReleasedCall(tool=FETCH, at=at(minute), input={"n": minute}, id=f"c{minute}")
    log.finish(log.release(ada, one, judged_by=None), "ok", output)
    return log.history(ada).kept


def test_a_call_is_kept_with_who_made_it(bounded: Callable[[KeepingBounds], SessionLog]) -> None:
    kept = ended(bounded(KeepingBounds()), 1, CallOutput(result={"a": (1,)}, texts=("b",)))
    assert kept[0] == PastCall(
        tool="fetch",
        origin="host",
        input={"n": 1},
        result={"a": (1,)},
        texts=("b",),
        at=at(1),
        session="a",
        agent="helper",
        user="ada",
        id="c1",
        chain=("helper", "default"),
    )
    assert not kept.gaps


@pytest.mark.parametrize(
    "bounds", [KeepingBounds(entries=40), KeepingBounds(bytes=3_000)], ids=["entries", "bytes"]
)
def test_beyond_its_bounds_a_tree_forgets_its_oldest_calls(
    bounded: Callable[[KeepingBounds], SessionLog], bounds: KeepingBounds
) -> None:
    log, text = bounded(bounds), CallOutput(result="x" * 60)
    for minute in range(60):
        kept = ended(log, minute, text)
    left = [kept[n].input["n"] for n in range(kept.length)]
    assert left == list(range(60))[-len(left) :]
    assert 30 <= len(left) <= 40
    # Whatever is missing is older than all that is kept.
    assert dict(kept.gaps) == {FETCH: 0}
    assert "of a session" in kept.why_missing(FETCH)
    seen = log.history(Caller(session="a", user="ada"))
    assert seen.unknown is None
    assert seen.tools[FETCH].succeeded.latest == at(59)


def test_a_call_that_is_older_than_the_retention_is_forgotten(
    bounded: Callable[[KeepingBounds], SessionLog],
) -> None:
    log = bounded(KeepingBounds(retention=timedelta(minutes=10)))
    for minute in (0, 1, 2):
        kept = ended(log, minute)
    assert (kept.length, dict(kept.gaps)) == (3, {})
    ended(log, 12)
    kept = ended(log, 13)
    assert [kept[n].input["n"] for n in range(kept.length)][-2:] == [12, 13]
    assert 0 not in [kept[n].input["n"] for n in range(kept.length)]
    assert dict(kept.gaps) == {FETCH: 0}
    assert "`[history] retention`" in kept.why_missing(FETCH)


def test_a_result_that_is_too_large_is_not_known(
    bounded: Callable[[KeepingBounds], SessionLog],
) -> None:
    log = bounded(KeepingBounds(result_bytes=100))
    kept = ended(log, 0, CallOutput(result="x" * 200, texts=("y",)))
    assert (kept[0].result, kept[0].texts) == (None, ())
    assert not kept.gaps


def test_a_call_that_runs_and_is_not_kept_is_later_than_all_others(
    bounded: Callable[[KeepingBounds], SessionLog],
) -> None:
    log = bounded(KeepingBounds())
    ended(log, 0)
    ada = Caller(session="a", agent="helper", user="ada", parent=Caller(session="root"))
    log.release(ada, call(MAIL, at(1)), judged_by=None)
    log.release(ada, ReleasedCall(tool=MAIL, at=at(1), input={}), judged_by=None)
    kept = log.history(ada).kept
    assert (kept.length, len(kept.running), dict(kept.gaps)) == (1, 1, {MAIL: 2})
    assert "no rule read them" in kept.why_missing(MAIL)


def test_of_many_sessions_those_used_least_lose_their_calls() -> None:
    log = MemorySessionLog(bounds=KeepingBounds(bytes=1_000))
    callers = [Caller(session=f"s{number}") for number in range(50)]
    for caller in callers:
        one = ReleasedCall(tool=FETCH, at=NOON, input={"text": "x" * 880})
        release = log.release(caller, one, judged_by=None)
        assert release is not None
        log.finish(release, "ok")
    kept = [log.history(caller).kept.length for caller in callers]
    assert kept == sorted(kept)
    assert 30 <= sum(kept) <= 36
    assert dict(log.history(callers[0]).kept.gaps) == {FETCH: 0}
    assert log.history(callers[0]).tools[FETCH].succeeded.latest == NOON


def test_a_snapshot_does_not_change(bounded: Callable[[KeepingBounds], SessionLog]) -> None:
    log = bounded(KeepingBounds())
    first = ended(log, 0)
    second = ended(log, 1)
    assert (first.length, second.length) == (1, 2)
    assert first != second
    assert [call.input["n"] for call in _counted(first)] == [0]
    assert [call.input["n"] for call in _counted(second)] == [0, 1]
    assert [call.input["n"] for call in _counted(first)] == [0]


def _counted(kept: PastCalls) -> list[PastCall]:
    found = kept.fold("all", _Listed)
    return found.calls[: kept.length]


class _Listed:
    def __init__(self) -> None:
        self.calls: list[PastCall] = []

    def add(self, position: int, call: PastCall) -> None:
        assert position == len(self.calls)
        self.calls.append(call)


# ------------------------------------------------------------------ law

_SESSIONS = ("a", "b", "c", "d")
_OUTCOMES: tuple[Outcome, ...] = ("ok", "failed", "timeout", "cancelled")


@dataclass
class _Call:
    session: str
    released: ReleasedCall
    releases: tuple[Any, ...]
    outcome: Outcome | None = "running"
    output: CallOutput | None = None
    # The place in the order in which calls ended; running calls come after all that ended.
    place: int = 1_000

    def past(self) -> PastCall:
        output = self.output or CallOutput()
        return PastCall(
            tool=self.released.tool.name,
            origin=self.released.tool.kind,
            input=self.released.input or {},
            result=output.result,
            texts=output.texts,
            outcome=str(self.outcome),
            at=self.released.at,
        )


@dataclass
class _Model:
    """Every call there was, and which sessions were ever seen together."""

    calls: list[_Call] = field(default_factory=list)
    links: set[frozenset[str]] = field(default_factory=set)

    def tree(self, session: str) -> set[str]:
        found = {session}
        while True:
            more = {name for link in self.links if link & found for name in link}
            if more <= found:
                return found
            found |= more

    def of(self, session: str) -> list[_Call]:
        tree = self.tree(session)
        found = [one for one in self.calls if one.session in tree and one.outcome is not None]
        return sorted(found, key=lambda one: one.place)

    def expected(self, session: str) -> tuple[Any, list[PastCall], set[CalledTool]]:
        calls = self.of(session)
        summaries = history_of(one.past() for one in calls).tools
        kept = [one.past() for one in calls if one.released.input is not None]
        gaps = {one.released.tool for one in calls if one.released.input is None}
        return summaries, kept, gaps


def _seen(log: SessionLog, session: str) -> tuple[Any, list[PastCall], set[CalledTool]]:
    history = log.history(Caller(session=session))
    count = history.kept.length + len(history.kept.running)
    kept = [
        replace(history.kept[n], session=None, agent=None, user=None, chain=())
        for n in range(count)
    ]
    return history.tools, kept, set(history.kept.gaps)


@settings(max_examples=examples(200))
@given(st.data())
def test_every_session_sees_what_was_called_in_its_tree(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        stored = SqliteSessionLog(Path(folder) / "history.sqlite")
        try:
            _hold_against_model(data, (MemorySessionLog(), stored))
        finally:
            stored.close()


def _hold_against_model(data: st.DataObject, logs: tuple[SessionLog, ...]) -> None:
    model = _Model()
    sessions = st.sampled_from(_SESSIONS)
    outputs = st.none() | st.sampled_from(
        (CallOutput(result="é"), CallOutput(result=(1, None)), CallOutput(texts=("no",)))
    )
    inputs = st.none() | st.sampled_from(({}, {"to": ("a", 1.5)}))
    for minute in range(data.draw(st.integers(1, 12))):
        open_calls = [one for one in model.calls if one.outcome == "running"]
        ends_one = data.draw(st.booleans())
        if open_calls and ends_one:
            ended = data.draw(st.sampled_from(open_calls))
            ended.outcome = data.draw(st.sampled_from((*_OUTCOMES, None)))
            ended.output, ended.place = data.draw(outputs), minute
            for log, release in zip(logs, ended.releases, strict=True):
                log.finish(release, ended.outcome, ended.output)
            continue
        name = data.draw(sessions)
        parent = data.draw(st.none() | sessions)
        caller = Caller(session=name, parent=None if parent is None else Caller(session=parent))
        model.links.add(frozenset((name, parent or name)))
        released = ReleasedCall(
            tool=data.draw(st.sampled_from((FETCH, MAIL))),
            at=at(minute - data.draw(st.sampled_from((0, 0, 5)))),
            input=data.draw(inputs),
        )
        releases = tuple(log.release(caller, released, judged_by=None) for log in logs)
        assert None not in releases
        model.calls.append(_Call(name, released, releases))
    for name in _SESSIONS:
        memory, stored = (_seen(log, name) for log in logs)
        expected = model.expected(name)
        assert stored == expected
        # In memory, the calls of trees that meet are ordered by their times.
        assert memory[0::2] == expected[0::2]
        assert sorted(memory[1], key=repr) == sorted(expected[1], key=repr)
