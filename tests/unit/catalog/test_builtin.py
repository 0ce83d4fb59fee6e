"""What policies and models learn about the built-in tools; a change shows here first."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from policy.catalog import ToolSpec, builtin_catalog

TOLD = Path(__file__).parents[2] / "data" / "builtin_tools.json"


def told(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "category": spec.category,
        "schema": spec.schema,
        "resources": [asdict(resource) for resource in spec.resources],
        "complete": spec.complete,
        "unseen": spec.unseen,
        "exec_class": spec.exec_class,
        "read_only": spec.read_only,
        "destructive": spec.destructive,
        "requires_confirmation": spec.requires_confirmation,
        "pinned": spec.pinned,
    }


def test_the_tools_are_defined_as_they_were() -> None:
    # In the order of the fields as well: people and models read them.
    found = [told(spec) for spec in builtin_catalog().specs]
    assert json.dumps(found, indent=1, default=dict) + "\n" == TOLD.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tool", "given", "read"),
    [
        ("file_read", {"path": "a"}, {"path": "a", "encoding": "utf-8"}),
        ("file_read", {"encoding": "UTF8", "path": "a"}, {"path": "a", "encoding": "utf-8"}),
        ("file_list", {"path": "a", "recursive": True}, {"path": "a", "recursive": True}),
        ("file_chmod", {"path": "a", "mode": "644"}, {"path": "a", "mode": "644"}),
        ("bash_exec", {"command": "ls", "timeout": 60.0}, {"command": "ls", "timeout": 60}),
        ("web_fetch", {"url": "https://a.example"}, {"url": "https://a.example"}),
        ("list_tools", {}, {}),
    ],
)
def test_an_input_is_read_with_its_defaults(
    tool: str, given: dict[str, Any], read: dict[str, Any]
) -> None:
    spec = builtin_catalog().get(tool)
    assert spec is not None
    assert spec.coerce is not None
    found = spec.coerce(given)
    assert list(found.items()) == list(read.items())


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("file_read", {}),
        ("file_read", {"path": ""}),
        ("file_read", {"path": 1}),
        ("file_read", {"path": "a", "encoding": "nonesuch"}),
        ("file_read", {"path": "a", "more": 1}),
        ("file_chmod", {"path": "a", "mode": "9999"}),
        ("bash_exec", {"command": "ls", "timeout": 3601}),
        ("bash_exec", {"command": "ls", "timeout": 1.5}),
        ("web_fetch", {"url": "https://a.example", "method": "get"}),
        ("web_fetch", {"url": "https://a.example", "headers": {"a": 1}}),
    ],
)
def test_what_does_not_fit_is_refused(tool: str, given: dict[str, Any]) -> None:
    spec = builtin_catalog().get(tool)
    assert spec is not None
    assert spec.coerce is not None
    with pytest.raises(ValueError, match=r"\S"):
        spec.coerce(given)
