"""Changes of the registry as others see them: handles, ordered events, and event loops."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from policy.model import ToolError
from policy.tools import (
    Missed,
    Registered,
    Registration,
    RegistryChange,
    RegistryNews,
    RegistrySnapshot,
    Replaced,
    ToolRegistry,
    Unregistered,
)
from tests.collecting import collecting
from tests.examples import examples
from tests.fakes import CountingHandler
from tests.service.registry.stage import Governed, versioned


async def test_a_handle_removes_its_own_entry_and_no_newer_one(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow a\n")
    first = g.register(CountingHandler("a"))
    assert first.dispose() is first.handler
    second = g.register(CountingHandler("a"))
    assert first.dispose() is None
    third = g.service.replace(second, CountingHandler("a"))
    assert second.dispose() is None
    assert g.service.registry.get("a") is third.handler
    assert await g.call("a", x=1) == {"x": 1}
    assert third.dispose() is third.handler
    assert await g.call("a") == "not-found/not-found"


async def test_changes_of_all_threads_arrive_in_the_loop_of_whoever_listens(
    tmp_path: Path,
) -> None:
    g = Governed(tmp_path, "allow *\n")
    here = threading.get_ident()
    feed = g.service.changes()

    def work() -> None:
        entry = g.service.register(CountingHandler("a"))
        g.service.replace(entry, CountingHandler("a"))
        g.service.unregister("a")

    await asyncio.to_thread(work)
    heard: list[RegistryNews] = []
    async for change in feed:
        assert threading.get_ident() == here
        heard.append(change)
        if isinstance(change, Unregistered):
            feed.close()
    assert heard == [
        Registered(name="a", revision=1),
        Replaced(name="a", revision=2),
        Unregistered(name="a", revision=3),
    ]


async def test_a_reader_that_waits_is_told_at_once_and_let_go_at_the_end() -> None:
    registry = ToolRegistry()
    feed = registry.changes()
    waiting = asyncio.create_task(anext(feed))
    await asyncio.sleep(0)
    registry.register("a", CountingHandler("a"))
    assert await waiting == Registered(name="a", revision=1)
    waiting = asyncio.create_task(anext(feed))
    await asyncio.sleep(0)
    async with feed:
        pass
    with pytest.raises(StopAsyncIteration):
        await waiting
    registry.register("b", CountingHandler("b"))
    assert [change async for change in feed] == []


async def test_a_reader_that_is_given_up_on_loses_no_change() -> None:
    registry = ToolRegistry()
    feed = registry.changes()
    waiting = asyncio.create_task(anext(feed))
    await asyncio.sleep(0)
    waiting.cancel()
    registry.register("a", CountingHandler("a"))
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await anext(feed) == Registered(name="a", revision=1)


async def test_a_slow_reader_is_told_where_it_missed_how_many() -> None:
    registry = ToolRegistry()
    feed = registry.changes(buffer=2)
    for name in "abcde":
        registry.register(name, CountingHandler(name))
    assert await anext(feed) == Registered(name="a", revision=1)
    registry.register("f", CountingHandler("f"))
    assert await anext(feed) == Registered(name="b", revision=2)
    assert await anext(feed) == Missed(count=4, revision=6)
    registry.register("g", CountingHandler("g"))
    assert await anext(feed) == Registered(name="g", revision=7)
    with pytest.raises(ValueError, match="one change"):
        registry.changes(buffer=0)


async def test_a_feed_that_nobody_holds_is_forgotten() -> None:
    registry = ToolRegistry()
    with collecting():
        feed = registry.changes()
        assert registry._listeners
        del feed
    registry.register("a", CountingHandler("a"))
    assert not registry._listeners


def test_a_feed_of_a_loop_that_has_ended_is_forgotten() -> None:
    registry = ToolRegistry()

    async def listen() -> Any:
        return registry.changes()

    feed = asyncio.run(listen())
    registry.register("a", CountingHandler("a"))
    assert not registry._listeners
    feed.close()


def test_a_change_made_by_a_listener_is_heard_by_all_after_the_one_before_it(
    tmp_path: Path,
) -> None:
    g = Governed(tmp_path, "allow *\n")
    heard: list[RegistryChange] = []

    def also(change: RegistryChange) -> None:
        if change == Registered(name="a", revision=1):
            g.register(CountingHandler("b"))

    g.service.registry.subscribe(also)
    g.service.registry.subscribe(heard.append)
    g.register(CountingHandler("a"))
    assert heard == [Registered(name="a", revision=1), Registered(name="b", revision=2)]


def test_one_listener_subscribed_twice_ends_once_at_a_time() -> None:
    registry = ToolRegistry()
    heard: list[RegistryChange] = []
    end = registry.subscribe(heard.append)
    registry.subscribe(heard.append)
    end()
    registry.register("a", CountingHandler("a"))
    assert len(heard) == 1


def test_names_and_snapshots_hold_while_threads_change_the_registry(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow *\n")
    registry = g.service.registry
    heard: list[RegistryChange] = []
    registry.subscribe(heard.append)
    wrong: list[str] = []
    start = threading.Barrier(4)

    def work(mark: int) -> None:
        start.wait()
        for number in range(20):
            try:
                entry = registry.register("t@1", versioned("t", 1))
            except ToolError:
                entry = registry.register(f"a{mark}_{number}", CountingHandler(f"a{mark}_{number}"))
            before = registry.snapshot()
            kept = dict(before)
            if number % 2:
                entry.dispose()
            if dict(before) != kept or registry.revision < before.revision:
                wrong.append(entry.name)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [change.revision for change in heard] == list(range(1, registry.revision + 1))
    assert set(registry.list()) == replayed(heard)


def replayed(changes: list[RegistryChange]) -> set[str]:
    """Return the names that are there after these changes."""
    names: set[str] = set()
    for change in changes:
        match change:
            case Registered(name=name):
                assert name not in names
                names.add(name)
            case Replaced(name=name):
                assert name in names
            case Unregistered(name=name):
                names.remove(name)
    return names


class RegistryMachine(RuleBasedStateMachine):
    """Any sequence of changes: what is told is what differs, and the past stays as it was."""

    def __init__(self) -> None:
        super().__init__()
        self.registry = ToolRegistry()
        self.heard: list[RegistryChange] = []
        self.registry.subscribe(self.heard.append)
        self.entries: list[Registration] = []
        self.past: list[tuple[RegistrySnapshot, dict[str, Registration], int]] = []

    @rule(name=st.sampled_from("ab"), version=st.sampled_from([None, 1, 2]))
    def register(self, name: str, version: int | None) -> None:
        handler = CountingHandler(name, version=version)
        before = self.registry.snapshot()
        bases = {entry.handler.spec.base for entry in before.values()}
        plain = {entry.name for entry in before.values() if entry.handler.spec.version is None}
        taken = handler.spec.name in before or name in (bases if version is None else plain)
        try:
            entry = self.registry.register(handler.spec.name, handler)
        except ToolError:
            assert taken and self.registry.snapshot() is before
        else:
            assert not taken
            self.entries.append(entry)

    @precondition(lambda self: self.entries)
    @rule(data=st.data())
    def dispose(self, data: st.DataObject) -> None:
        entry = data.draw(st.sampled_from(self.entries))
        there = self.registry.snapshot().get(entry.name) is entry
        assert (entry.dispose() is entry.handler) is there

    @precondition(lambda self: self.entries)
    @rule(data=st.data())
    def replace(self, data: st.DataObject) -> None:
        entry = data.draw(st.sampled_from(self.entries))
        there = self.registry.snapshot().get(entry.name) is entry
        spec = entry.handler.spec
        try:
            new = self.registry.replace(entry, CountingHandler(spec.base, version=spec.version))
        except ToolError:
            assert not there
        else:
            assert there
            self.entries.append(new)

    @rule()
    def look(self) -> None:
        snapshot = self.registry.snapshot()
        self.past.append((snapshot, dict(snapshot), snapshot.revision))

    @invariant()
    def what_is_told_is_what_differs(self) -> None:
        snapshot = self.registry.snapshot()
        assert [change.revision for change in self.heard] == list(range(1, snapshot.revision + 1))
        assert replayed(self.heard) == set(snapshot)
        latest = {
            change.name: change.revision
            for change in self.heard
            if not isinstance(change, Unregistered)
        }
        assert {e.name: e.revision for e in snapshot.values()} == {
            name: latest[name] for name in snapshot
        }

    @invariant()
    def the_past_stays(self) -> None:
        for snapshot, entries, revision in self.past:
            assert dict(snapshot) == entries
            assert snapshot.revision == revision

    @invariant()
    def the_newest_answers_to_the_shared_name(self) -> None:
        for name in "ab":
            found = self.registry.snapshot().versions(name)
            numbers = [entry.handler.spec.version or 0 for entry in found]
            assert numbers == sorted(numbers, reverse=True)
            newest = found[0].handler if found else None
            assert self.registry.get(name) is newest


RegistryMachine.TestCase.settings = settings(
    max_examples=examples(40), stateful_step_count=25, deadline=None
)
TestRegistry = RegistryMachine.TestCase
