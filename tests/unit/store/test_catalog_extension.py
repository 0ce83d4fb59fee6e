"""Tools that are added to the catalogue of a store that is in use."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.catalog import CatalogError, Origin, ToolSpec
from policy.model import Verdict
from tests.unit.store.opened import folder_of_rules, number, open_store, rules


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of_rules(tmp_path)


def tool(name: str, server: str = "") -> ToolSpec:
    origin = Origin(kind="mcp" if server else "host", server=server, tool=name)
    return ToolSpec(name=origin.flat_name(), origin=origin, schema={"type": "object"})


def test_tools_that_are_registered_later_are_decided(folder: Path) -> None:
    (folder / "global.policy").write_text(rules("allow"))
    store = open_store(folder)
    ping = policy.ToolCall(tool="ping")
    assert store.decide(ping).verdict is Verdict.DENY
    outcome = store.extend_catalog([tool("ping")])
    assert outcome.changed
    assert number(store) == 2
    assert store.decide(ping).verdict is Verdict.ALLOW


def test_tools_that_cannot_stand_beside_others_change_nothing(folder: Path) -> None:
    store = open_store(folder)
    before = store.catalog
    with pytest.raises(CatalogError):
        store.extend_catalog([tool("a"), tool("a")])
    assert store.catalog is before
    assert number(store) == 1
