"""Tool definitions read from the lists that servers and host applications publish."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import (
    Catalog,
    Origin,
    Resource,
    ToolSpec,
    builtin_catalog,
    listing_entry,
    read_listing,
    read_only_schema,
)

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


RETURNS = {"type": "object", "properties": {"iban": {"type": "string"}}}


def test_the_output_schema_of_a_server_counts_once_it_was_reviewed() -> None:
    entry = {"name": "find", "outputSchema": RETURNS}
    (of_server,) = read_listing([entry], server="s").specs
    (reviewed,) = read_listing([entry], server="s", reviewed=True).specs
    (of_host,) = read_listing([entry]).specs
    assert of_server.output == {}
    assert reviewed.output == of_host.output == RETURNS
    assert listing_entry(of_host)["outputSchema"] == RETURNS


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (["object"], "is not an object"),
        ({"$ref": "#/$defs/none"}, "has a reference without a target"),
        ({"items": [{}] * 60_000}, "is too large"),
        ({"$dynamicRef": "#a"}, "has a reference that only the caller could resolve"),
    ],
    ids=["no object", "no target", "too large", "dynamic"],
)
def test_a_tool_with_an_unusable_output_schema_is_kept_without_it(schema: Any, why: str) -> None:
    listing = read_listing([{"name": "find", "outputSchema": schema}])
    (spec,) = listing.specs
    assert (spec.output, spec.fault) == ({}, None)
    assert listing.problems == (f"tool 1: `find`: its output schema {why}",)


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


@pytest.mark.parametrize("spec", builtin_catalog().specs, ids=lambda spec: spec.name)
def test_what_is_written_is_read_again_as_the_same_tool(spec: ToolSpec) -> None:
    written = json.loads(json.dumps(listing_entry(spec)))
    listing = read_listing([written])
    assert listing.problems == ()
    assert listing.specs == (spec,)


def test_all_that_a_list_can_say_is_written() -> None:
    spec = ToolSpec(
        name="notes@2",
        origin=Origin(kind="host", tool="notes"),
        description="Keep notes.",
        schema=read_only_schema({"type": "object", "properties": {"a.b": {"type": "string"}}}),
        resources=(
            Resource(verb="reads", steps=("files", "*", "path"), tree_field="all"),
            Resource(verb="writes", steps=("a.b",), tree=True),
            Resource(verb="writes", steps=("to",), only_for=("operation", ("copy", "move"))),
        ),
        unseen=True,
        requires_confirmation=True,
        exec_class=True,
        category="notes",
        read_only=False,
        idempotent=True,
        version=2,
        pinned=True,
    )
    written = json.loads(json.dumps(listing_entry(spec)))
    assert written["resources"] == {
        "reads": [{"path": "files.*.path", "tree_field": "all"}],
        "writes": [
            {"path": ["a.b"], "tree": True},
            {"path": "to", "only_for": {"operation": ["copy", "move"]}},
        ],
        "unseen": True,
    }
    assert read_listing([written]).specs == (spec,)
    remote = replace(spec, origin=Origin(kind="mcp", server="hub", tool="notes"), version=None)
    remote = replace(remote, name=remote.origin.flat_name())
    assert read_listing([listing_entry(remote)], reviewed=True).specs == (remote,)
    origin = Origin(kind="ext", server="x", tool="notes")
    with pytest.raises(ValueError, match="`ext__x__notes` is a tool of an extension"):
        listing_entry(ToolSpec(name=origin.flat_name(), origin=origin))


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        (["path"], "`resources` is not an object"),
        ({"read": ["path"]}, "`resources` cannot have `read`"),
        ({"reads": "path"}, "`resources.reads` is not a list of arguments"),
        ({"reads": [""]}, "has an entry that is neither the path of an argument"),
        ({"reads": [7]}, "has an entry that is neither the path of an argument"),
        ({"reads": [{"path": "a", "tree": "yes"}]}, "has an entry that is neither"),
        ({"reads": [{"path": "a", "trees": True}]}, "has an entry that is neither"),
        ({"reads": [{"path": "a", "only_for": ["x"]}]}, "has an `only_for` that is not a field"),
        ({"complete": "yes"}, "`resources.complete` is neither true nor false"),
    ],
)
def test_resources_that_cannot_be_read_are_a_problem_and_never_left_out(
    resources: Any, said: str
) -> None:
    listing = read_listing([{"name": "x", "resources": resources}])
    assert listing.specs == ()
    assert len(listing.problems) == 1 and said in listing.problems[0]
    # What a server says of itself counts for nothing, so it is not looked at.
    unreviewed = read_listing([{"name": "x", "resources": resources}], server="hub")
    assert [spec.name for spec in unreviewed.specs] == ["hub__x"]
