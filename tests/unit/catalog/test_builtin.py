"""The tools that come along are, as data, what their models say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import ToolSpec, builtin_catalog
from policy.catalog.builtin import read_plain
from policy.catalog.builtin_models import SPECS, read_by_model

NAMES = sorted({name for spec in SPECS for name in spec.schema["properties"]})
VALUES = st.one_of(
    st.sampled_from(["", "a", "é", "\ud800", "GET", "get", "644", "9999", "utf-8"]),
    st.booleans(),
    st.sampled_from([0, 1, 60, 3600, 3601, 60.0, 1.5, None]),
    st.lists(st.just("a"), max_size=1),
    st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["x", 1]), max_size=2),
)


def test_the_definitions_are_those_of_the_models() -> None:
    assert builtin_catalog().specs == SPECS
    # In the order of the fields as well: people and models read them.
    ours, theirs = (
        [json.dumps(spec.schema, default=dict) for spec in specs]
        for specs in (builtin_catalog().specs, SPECS)
    )
    assert ours == theirs


def outcome(spec: ToolSpec, given: Mapping[str, Any]) -> tuple[list[Any], list[type]] | str:
    assert spec.coerce is not None
    try:
        read = spec.coerce(dict(given))
    except ValueError as error:
        return str(error)
    return list(read.items()), [type(value) for value in read.values()]


@given(st.sampled_from(range(len(SPECS))), st.data())
def test_an_input_is_read_as_its_model_reads_it(number: int, data: st.DataObject) -> None:
    ours, theirs = builtin_catalog().specs[number], SPECS[number]
    own = st.sampled_from(sorted(ours.schema["properties"]))
    given = data.draw(st.dictionaries(own | own | st.sampled_from(NAMES), VALUES, max_size=4))
    assert outcome(ours, given) == outcome(theirs, given)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("file_read", {"path": "a"}),
        ("file_list", {"path": "a", "recursive": True}),
        ("bash_exec", {"command": "ls", "timeout": 5}),
        ("web_fetch", {"url": "https://a.example", "method": "GET"}),
        ("list_tools", {}),
    ],
)
def test_what_is_plainly_right_needs_no_model(tool: str, given: dict[str, Any]) -> None:
    spec = builtin_catalog().get(tool)
    assert spec is not None
    assert read_plain(spec.schema, given) == read_by_model(tool, given)
