"""Many tools as one change: of the registry, of its events, and of the policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policy.catalog import Origin
from policy.model import PolicyInvalid, ToolError
from policy.tools import (
    Registered,
    Registration,
    RegistryChange,
    Replaced,
    ToolRegistry,
    Unregistered,
)
from tests.fakes import CountingHandler
from tests.service.registry.stage import Governed


def of_server(tool: str, server: str = "one", **more: Any) -> CountingHandler:
    origin = Origin(kind="mcp", server=server, tool=tool)
    return CountingHandler(origin.flat_name(), origin=origin, **more)


def heard_by(registry: ToolRegistry) -> list[RegistryChange]:
    heard: list[RegistryChange] = []
    registry.subscribe(heard.append)
    return heard


def test_all_are_added_or_none() -> None:
    registry = ToolRegistry()
    entries = registry.register_all([CountingHandler("a"), CountingHandler("b")])
    assert [entry.name for entry in entries] == ["a", "b"]
    before = registry.snapshot()
    with pytest.raises(ToolError, match="registered already"):
        registry.register_all([CountingHandler("c"), CountingHandler("a")])
    with pytest.raises(ToolError, match="two tools are called `d`"):
        registry.register_all([CountingHandler("d"), CountingHandler("d")])
    assert registry.snapshot() is before


def test_the_tools_of_one_server_are_exchanged() -> None:
    registry = ToolRegistry()
    registry.register_all([CountingHandler("host"), of_server("x", "two")])
    same, gone = of_server("same"), of_server("gone")
    registry.replace_all("one", [same, gone])
    heard, before = heard_by(registry), registry.snapshot()
    registry.replace_all("one", [same, of_server("new")])
    assert list(before) == ["host", "one__gone", "one__same", "two__x"]
    assert registry.list() == ("host", "one__new", "one__same", "two__x")
    assert registry.snapshot()["one__same"] is before["one__same"]
    assert heard == [
        Unregistered(name="one__gone", revision=before.revision + 1),
        Registered(name="one__new", revision=before.revision + 2),
    ]
    assert registry.revision == before.revision + 2


def test_a_tool_with_another_handler_is_replaced() -> None:
    registry = ToolRegistry()
    (old,) = registry.replace_all("one", [of_server("a")])
    heard = heard_by(registry)
    newer = of_server("a")
    (entry,) = registry.replace_all("one", [newer])
    assert heard == [Replaced(name="one__a", revision=2)]
    assert old.dispose() is None
    assert entry.dispose() is newer


def test_what_has_not_changed_is_no_change() -> None:
    registry, tool = ToolRegistry(), of_server("a")
    first = registry.replace_all("one", [tool])
    before, heard = registry.snapshot(), heard_by(registry)
    assert registry.replace_all("one", [tool]) == first
    assert registry.snapshot() is before
    assert heard == []


def test_a_server_has_its_own_tools_only() -> None:
    registry = ToolRegistry()
    registry.register(CountingHandler("host"))
    for handler in (of_server("a", "two"), CountingHandler("b")):
        with pytest.raises(ToolError, match="not a tool of the server `one`"):
            registry.replace_all("one", [handler])
    # `one` + `a` and the host application's `one__a` have one name.
    registry.register(CountingHandler("one__a"))
    with pytest.raises(ToolError, match="registered already"):
        registry.replace_all("one", [of_server("a")])
    assert registry.list() == ("host", "one__a")


def test_listeners_may_change_the_registry_meanwhile() -> None:
    registry = ToolRegistry()
    seen: list[tuple[str, tuple[str, ...]]] = []

    def listen(change: RegistryChange) -> None:
        seen.append((change.name, registry.list()))

    registry.subscribe(listen)
    registry.register_all([CountingHandler("a"), CountingHandler("b")])
    # Whoever hears of the first change sees all of them.
    assert seen == [("a", ("a", "b")), ("b", ("a", "b"))]


async def test_the_policy_is_built_once_for_all(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow one__a, one__b\n")
    outcomes: list[object] = []
    g.store.subscribe(outcomes.append)
    entries = g.service.replace_all("one", [of_server("a"), of_server("b")])
    assert [type(entry) for entry in entries] == [Registration, Registration]
    assert len(outcomes) == 1
    assert await g.call("one__a", x=1) == {"x": 1}
    g.service.replace_all("one", [of_server("b")])
    assert await g.call("one__a") == "not-found/not-found"


async def test_a_policy_that_would_not_load_keeps_all_tools_out(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow a\nallow b when input.amont <= 5\n")
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "number"}},
        "additionalProperties": False,
    }
    with pytest.raises(PolicyInvalid):
        g.service.register_all(
            [CountingHandler("a"), CountingHandler("b", schema=schema, open_fields=False)]
        )
    assert g.service.registry.list() == ()
