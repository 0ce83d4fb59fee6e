"""The registry: whole snapshots, ordered events, and handles that never affect a newer entry."""

from __future__ import annotations

import threading

import pytest

from policy.model import ToolError
from policy.tools import Registered, RegistryChange, Replaced, ToolRegistry, Unregistered
from tests.fakes import CountingHandler


def test_a_snapshot_does_not_change() -> None:
    registry = ToolRegistry()
    registry.register("a", CountingHandler("a"))
    before = registry.snapshot()
    registry.register("b", CountingHandler("b"))
    registry.unregister("a")
    assert list(before) == ["a"]
    assert registry.list() == ("b",)


def test_a_name_belongs_to_one_tool_and_a_tool_to_its_name() -> None:
    registry = ToolRegistry()
    first = CountingHandler("a")
    registry.register("a", first)
    with pytest.raises(ToolError, match="registered already"):
        registry.register("a", CountingHandler("a"))
    with pytest.raises(ToolError, match="cannot be registered"):
        registry.register("b", CountingHandler("c"))
    assert registry.get("a") is first
    assert registry.unregister("nothing") is None


def test_a_stale_handle_cannot_remove_or_replace_a_newer_entry() -> None:
    registry = ToolRegistry()
    old = registry.register("a", CountingHandler("a"))
    registry.unregister(old)
    newer = registry.register("a", CountingHandler("a"))
    assert registry.unregister(old) is None
    with pytest.raises(ToolError):
        registry.replace(old, CountingHandler("a"))
    assert registry.get("a") is newer.handler


def test_changes_are_told_in_order_whatever_a_listener_does() -> None:
    registry = ToolRegistry()
    heard: list[RegistryChange] = []

    def fails(change: RegistryChange) -> None:
        raise RuntimeError

    registry.subscribe(fails)
    end = registry.subscribe(heard.append)
    entry = registry.register("a", CountingHandler("a"))
    registry.replace(entry, CountingHandler("a"))
    registry.unregister("a")
    end()
    registry.register("b", CountingHandler("b"))
    assert heard == [
        Registered(name="a", revision=1),
        Replaced(name="a", revision=2),
        Unregistered(name="a", revision=3),
    ]
    assert registry.revision == 4


def test_many_threads_lose_no_change_and_no_order() -> None:
    registry = ToolRegistry()
    heard: list[int] = []
    registry.subscribe(lambda change: heard.append(change.revision))

    def work(mark: str) -> None:
        for number in range(50):
            name = f"{mark}{number}"
            entry = registry.register(name, CountingHandler(name))
            if number % 2:
                registry.unregister(entry)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(registry.list()) == 100
    assert heard == list(range(1, 301))
