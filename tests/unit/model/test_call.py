"""Tool calls and callers: immutable at every level."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.model import Caller, ToolCall, freeze, thaw

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(JSON)
def test_freezing_keeps_the_value_and_thawing_gives_it_back(value: Any) -> None:
    assert thaw(freeze(value)) == value


def test_nothing_inside_a_call_can_be_changed() -> None:
    call = ToolCall(tool="file_write", input={"a": {"b": [{"c": 1}]}})
    inner = call.input["a"]["b"][0]
    with pytest.raises(TypeError):
        call.input["a"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        inner["c"] = 2
    with pytest.raises(AttributeError):
        call.input["a"]["b"].append(1)
    with pytest.raises(FrozenInstanceError):
        call.tool = "other"  # type: ignore[misc]


def test_a_call_does_not_follow_changes_of_what_it_was_made_from() -> None:
    given_input = {"paths": ["/srv/a"]}
    call = ToolCall(tool="file_read", input=given_input)
    given_input["paths"].append("/etc/passwd")
    assert call.input["paths"] == ("/srv/a",)


def test_thawed_input_is_writable_and_apart_from_the_call() -> None:
    call = ToolCall(tool="file_read", input={"paths": ["/srv/a"]})
    thawed = thaw(call.input)
    thawed["paths"].append("/srv/b")
    assert call.input["paths"] == ("/srv/a",)


def test_calls_are_equal_by_what_they_ask_for() -> None:
    assert ToolCall(tool="t", input={"a": [1]}) == ToolCall(tool="t", input={"a": (1,)})
    assert ToolCall(tool="t", input={"a": 1}) != ToolCall(tool="t", input={"a": 2})


def test_a_chain_goes_from_the_caller_to_the_root() -> None:
    root = Caller(agent="lead")
    middle = Caller(agent="worker", parent=root)
    leaf = Caller(agent="helper", parent=middle)
    assert [caller.agent for caller in leaf.chain()] == ["helper", "worker", "lead"]
    assert (root.depth, middle.depth, leaf.depth) == (0, 1, 2)
    assert replace(leaf, parent=root).depth == 1
    assert copy.deepcopy(leaf).depth == 2


def test_without_a_caller_named_the_owner_asks_through_the_default_agent() -> None:
    assert (Caller().agent, Caller().role, Caller().scope) == ("default", "owner", None)
