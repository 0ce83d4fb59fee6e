"""The log of session trees, held against a list of all calls that is read from the beginning."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.model import CalledTool, Caller, History, Outcome, PastCall, history_of
from policy.service.sessions import (
    MemorySessionLog,
    SessionLog,
    SessionLogUnusable,
    SqliteSessionLog,
)
from tests.examples import examples

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
FETCH, MAIL = (CalledTool(name=name, kind="host") for name in ("fetch", "mail"))


@pytest.fixture(params=["memory", "sqlite"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SessionLog]:
    if request.param == "memory":
        yield MemorySessionLog()
        return
    stored = SqliteSessionLog(tmp_path / "history.sqlite")
    yield stored
    stored.close()


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def test_a_call_runs_until_it_is_finished(log: SessionLog) -> None:
    ada = Caller(session="a")
    release = log.release(ada, FETCH, NOON, judged_by=None)
    assert release is not None
    assert log.history(ada).tools[FETCH].unsure.latest == NOON
    assert log.history(ada).tools[FETCH].succeeded.latest is None
    log.finish(release, "ok")
    assert log.history(ada).tools[FETCH].unsure.latest is None
    assert log.history(ada).tools[FETCH].succeeded.latest == NOON


def test_a_call_that_never_reached_its_tool_leaves_nothing(log: SessionLog) -> None:
    ada = Caller(session="a")
    release = log.release(ada, FETCH, NOON, judged_by=None)
    assert release is not None
    log.finish(release, None)
    assert log.history(ada) == History()


def test_a_call_is_not_released_by_a_history_that_has_changed(log: SessionLog) -> None:
    ada = Caller(session="a")
    seen = log.history(ada)
    other = log.release(ada, FETCH, NOON, judged_by=None)
    assert other is not None
    assert log.release(ada, MAIL, NOON, judged_by=seen) is None
    assert log.release(ada, MAIL, NOON, judged_by=log.history(ada)) is not None


def test_sessions_of_two_users_with_one_name_are_two(log: SessionLog) -> None:
    ada, bob = Caller(session="a", user="ada"), Caller(session="a", user="bob")
    assert log.release(ada, FETCH, NOON, judged_by=None) is not None
    assert log.history(bob) == History()


def test_a_session_stays_in_the_tree_that_it_was_seen_in(log: SessionLog) -> None:
    root = Caller(session="root")
    log.history(Caller(session="child", parent=root))
    assert log.release(root, FETCH, NOON, judged_by=None) is not None
    assert FETCH in log.history(Caller(session="child")).tools


def test_a_forgotten_session_is_not_taken_for_a_new_one() -> None:
    log = MemorySessionLog(most=2)
    for name in ("a", "b", "c"):
        assert log.history(Caller(session=name)).unknown is None
    assert "forgotten" in str(log.history(Caller(session="a")).unknown)
    assert log.history(Caller(session="c")).unknown is None


def test_a_session_with_a_running_call_is_kept() -> None:
    log, busy = MemorySessionLog(most=2), Caller(session="busy")
    release = log.release(busy, FETCH, NOON, judged_by=None)
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
    ended = first.release(ada, FETCH, NOON, judged_by=None)
    assert ended is not None
    first.release(ada, MAIL, at(1), judged_by=None)
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
    assert first.release(ada, FETCH, NOON, judged_by=None) is not None
    assert second.release(ada, MAIL, NOON, judged_by=seen) is None
    first.close()
    second.close()


@pytest.mark.parametrize("contents", [b"no database", b"SQLite format 3\0" + b"x" * 100])
def test_a_file_that_is_no_history_cannot_be_used(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "history.sqlite"
    path.write_bytes(contents)
    with pytest.raises(SessionLogUnusable, match="cannot be kept in"):
        SqliteSessionLog(path)
    assert path.read_bytes() == contents


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
    release = log.release(odd, tool, None, judged_by=None)
    assert release is not None
    log.finish(release, "ok")
    assert log.history(odd).tools[tool].succeeded.untimed
    log.close()


# ------------------------------------------------------------------ law

_SESSIONS = ("a", "b", "c", "d")
_OUTCOMES: tuple[Outcome, ...] = ("ok", "failed", "timeout", "cancelled")


@dataclass
class _Call:
    session: str
    tool: CalledTool
    at: datetime
    releases: tuple[Any, ...]
    outcome: Outcome | None = "running"


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

    def expected(self, session: str) -> History:
        tree = self.tree(session)
        return history_of(
            PastCall(tool=call.tool.name, origin=call.tool.kind, outcome=call.outcome, at=call.at)
            for call in self.calls
            if call.session in tree and call.outcome is not None
        )


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
    for minute in range(data.draw(st.integers(1, 12))):
        open_calls = [call for call in model.calls if call.outcome == "running"]
        ends_one = data.draw(st.booleans())
        if open_calls and ends_one:
            call = data.draw(st.sampled_from(open_calls))
            call.outcome = data.draw(st.sampled_from((*_OUTCOMES, None)))
            for log, release in zip(logs, call.releases, strict=True):
                log.finish(release, call.outcome)
            continue
        name = data.draw(sessions)
        parent = data.draw(st.none() | sessions)
        caller = Caller(session=name, parent=None if parent is None else Caller(session=parent))
        model.links.add(frozenset((name, parent or name)))
        tool = data.draw(st.sampled_from((FETCH, MAIL)))
        moment = at(minute - data.draw(st.sampled_from((0, 0, 5))))
        releases = tuple(log.release(caller, tool, moment, judged_by=None) for log in logs)
        assert None not in releases
        model.calls.append(_Call(name, tool, moment, releases))
    for name in _SESSIONS:
        expected = model.expected(name)
        assert [log.history(Caller(session=name)) for log in logs] == [expected, expected]
