"""The twelve types of capability, as JSON and as registrations."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.capabilities import (
    KINDS,
    VARIANTS,
    CapabilityDeclaration,
    Grants,
    PluginRefused,
    capability_of,
    compare,
    grants_of,
    key_of,
    manifest_of,
)
from policy.plugins import PluginRegistration
from policy.plugins.registration import registration_of

EXAMPLES: dict[str, dict[str, Any]] = {
    "tool": {"name": "my_tool", "description": "Does it."},
    "hook": {"name": "log", "event": "tool.end", "priority": -1},
    "channel": {"name": "mail", "direction": "out"},
    "provider": {"name": "local", "models": ["small", "large v2"]},
    "gateway_method": {"name": "sessions.list", "input_schema": {"type": "object"}},
    "http_route": {"name": "hook", "path": "/hooks/{id}", "methods": ["POST"]},
    "cli": {"name": "weather", "usage": "weather CITY"},
    "service": {"name": "poller", "autostart": True},
    "command": {"name": "weather", "aliases": ["w"]},
    "skill": {"name": "write", "path": "skills/write.md"},
    "agent": {"name": "helper", "model": "small", "tools": ["file_read"]},
    "mcp_server": {"name": "git", "command": ["git-mcp", "--stdio"]},
}


def declared(kind: str) -> CapabilityDeclaration:
    return capability_of({"type": kind, **EXAMPLES[kind]})


def test_there_are_twelve_kinds_and_each_has_its_example() -> None:
    assert len(KINDS) == len(VARIANTS) == 12
    assert set(EXAMPLES) == set(KINDS) == {v.model_fields["type"].default for v in VARIANTS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_declaration_is_one_tagged_object_that_reads_back(kind: str) -> None:
    text = declared(kind).model_dump_json()
    assert text.startswith(f'{{"type":"{kind}","name":"{EXAMPLES[kind]["name"]}"')
    assert capability_of(json.loads(text)) == declared(kind)


def test_each_variant_has_one_type_of_registration_and_no_other_does() -> None:
    made = [
        type(registration_of("p", declared(kind), active=True, target=object())) for kind in KINDS
    ]
    assert len(set(made)) == len(VARIANTS)
    assert set(made) == set(get_args(PluginRegistration))
    for kind, registration in zip(KINDS, made, strict=True):
        annotation = registration.__annotations__["declaration"]
        assert annotation == type(declared(kind)).__name__


@pytest.mark.parametrize(
    "value",
    [
        {"type": "tool"},
        {"type": "tool", "name": "a", "extra": 1},
        {"type": "tool", "name": "_a"},
        {"type": "tool", "name": "a.b"},
        {"type": "tool", "name": 3},
        {"type": "Tool", "name": "a"},
        {"type": "wasm", "name": "a"},
        {"name": "a"},
        {"type": "hook", "name": "a", "event": "e", "priority": "1"},
        {"type": "service", "name": "a", "autostart": 1},
        {"type": "http_route", "name": "a", "path": "hooks"},
        {"type": "http_route", "name": "a", "path": "/a", "methods": []},
        {"type": "http_route", "name": "a", "path": "/a/../b"},
        {"type": "http_route", "name": "a", "path": "/a/."},
        {"type": "skill", "name": "a", "path": "../secrets.md"},
        {"type": "skill", "name": "a", "path": "/etc/passwd"},
    ],
)
def test_what_is_no_declaration_is_refused_with_a_reason(value: dict[str, Any]) -> None:
    with pytest.raises(PluginRefused) as refused:
        capability_of(value)
    assert refused.value.problems and all(refused.value.problems)


@pytest.mark.parametrize(
    ("plugin", "refused"),
    [
        ("weather", False),
        ("we-a_ther2", False),
        ("a__b", True),
        ("_a", True),
        ("a_", True),
        ("A", True),
        ("", True),
        ("a b", True),
        ("a/b", True),
    ],
)
def test_an_identifier_leaves_no_doubt_where_the_tool_begins(plugin: str, refused: bool) -> None:
    value = {"id": plugin, "version": "1"}
    if not refused:
        assert manifest_of(value).id == plugin
        return
    with pytest.raises(PluginRefused):
        manifest_of(value)


@given(
    st.from_regex(r"\A[a-z0-9]([a-z0-9_\-]{0,4}[a-z0-9])?\Z").filter(lambda p: "__" not in p),
    st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9_\-]{0,5}\Z"),
)
def test_a_flat_name_is_that_of_one_plugin_and_one_tool(plugin: str, tool: str) -> None:
    manifest = manifest_of({"id": plugin, "version": "1"})
    declaration = capability_of({"type": "tool", "name": tool})
    flat = f"ext__{manifest.id}__{declaration.name}"
    _, found, rest = flat.split("__", 2)
    assert (found, rest) == (plugin, tool)


def test_a_plugin_declares_each_capability_once() -> None:
    twice = [{"type": "tool", "name": "a"}, {"type": "tool", "name": "a"}]
    with pytest.raises(PluginRefused, match="tool:a"):
        manifest_of({"id": "p", "version": "1", "capabilities": twice})
    other = [{"type": "tool", "name": "a"}, {"type": "cli", "name": "a"}]
    assert len(manifest_of({"id": "p", "version": "1", "capabilities": other}).capabilities) == 2


@pytest.mark.parametrize(
    "pattern", ["", "tool", "tool:", ":a", "tools:a", "*:*", "tool:a b", "tool:é"]
)
def test_what_grants_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(PluginRefused):
        grants_of([pattern])


@given(st.sets(st.sampled_from(KINDS)), st.sets(st.sampled_from(KINDS)))
def test_declared_is_active_or_withheld_and_grants_never_add(has: set[str], got: set[str]) -> None:
    manifest = manifest_of(
        {
            "id": "p",
            "version": "1",
            "capabilities": [{"type": kind, **EXAMPLES[kind]} for kind in sorted(has)],
        }
    )
    found = compare(manifest, Grants(tuple(f"{kind}:*" for kind in sorted(got))))
    assert set(found.active) == {key_of(declared(kind)) for kind in has & got}
    assert set(found.withheld) == {key_of(declared(kind)) for kind in has - got}
    assert set(found.undeclared) == {f"{kind}:*" for kind in got - has}
    assert len(found.warnings) == len(got - has)
