"""Tool definitions read from the lists that servers and host applications publish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import Catalog, Resource, read_listing

SERVERS = Path(__file__).parents[2] / "data" / "mcp_servers"


@pytest.mark.parametrize("server", ["everything", "filesystem", "git"])
def test_a_reference_server_loads_as_a_catalogue(server: str) -> None:
    answer = json.loads((SERVERS / f"{server}.json").read_text())
    listing = read_listing(answer, server=server)
    assert listing.problems == ()
    assert len(listing.specs) == len(answer["tools"])
    catalog = Catalog(specs=listing.specs)
    assert catalog.servers == {server}
    assert all(spec.read_only is None and not spec.pinned for spec in catalog.specs)


def test_annotations_count_once_a_person_has_reviewed_them() -> None:
    answer = json.loads((SERVERS / "git.json").read_text())
    specs = read_listing(answer, server="git", reviewed=True).specs
    status = next(spec for spec in specs if spec.origin.tool == "git_status")
    assert (status.read_only, status.destructive, status.pinned) == (True, False, True)


CLAIMS = {
    "name": "x",
    "annotations": {"readOnlyHint": True},
    "category": "file",
    "resources": {"reads": ["a.b"], "writes": ["c"], "complete": True},
}


def test_a_server_cannot_speak_well_of_itself_or_name_another() -> None:
    (spec,) = read_listing([{**CLAIMS, "server": "other"}], server="s").specs
    assert spec.origin.server == "s"
    assert (spec.read_only, spec.category, spec.resources, spec.complete) == (None, None, (), False)


def test_a_host_says_which_arguments_are_resources() -> None:
    (spec,) = read_listing([CLAIMS]).specs
    assert spec.name == "x"
    assert spec.resources == (
        Resource(verb="reads", steps=("a", "b")),
        Resource(verb="writes", steps=("c",)),
    )
    assert spec.complete
    assert spec.read_only
    assert spec.category == "file"


@pytest.mark.parametrize("key", ["inputSchema", "input_schema", "parameters"])
def test_a_schema_goes_by_three_names(key: str) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    (spec,) = read_listing([{"name": "x", key: schema, "server": "s"}]).specs
    assert dict(spec.schema)["properties"]["q"]["type"] == "string"
    assert spec.name == "s__x"


@pytest.mark.parametrize(
    "entry",
    [5, {}, {"name": ""}, {"name": "a\nb"}, {"name": "x" * 999}, {"name": "x", "server": 5},
     {"name": "x", "server": "ext"}, {"name": "x", "server": "a__b"}],
)  # fmt: skip
def test_a_tool_that_cannot_be_named_is_left_out_and_told(entry: Any) -> None:
    listing = read_listing([entry, {"name": "good"}])
    assert [spec.name for spec in listing.specs] == ["good"]
    assert len(listing.problems) == 1


def test_a_tool_with_an_unusable_schema_is_kept_and_cannot_be_called() -> None:
    listing = read_listing({"tools": [{"name": "x", "inputSchema": {"$ref": "#/no"}}]}, server="s")
    assert listing.specs[0].fault is not None
    assert len(listing.problems) == 1


def test_a_tool_listed_twice_keeps_its_first_definition() -> None:
    listing = read_listing([{"name": "x", "description": "a"}, {"name": "x"}])
    assert [spec.description for spec in listing.specs] == ["a"]
    assert "twice" in listing.problems[0]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["tools", "name", "inputSchema", "annotations", "resources"]),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_what_is_read_from_any_json_is_a_sound_catalogue(value: Any) -> None:
    listing = read_listing(value, server="s")
    assert Catalog(specs=listing.specs).names == tuple(spec.name for spec in listing.specs)
