"""Versions of one tool in a catalogue, and which of them patterns, selectors and lists match."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import (
    Catalog,
    CatalogError,
    Origin,
    ToolPattern,
    ToolSelector,
    ToolSpec,
    read_listing,
    repair_name,
)
from policy.layers.selector_overlap import SelectorOverlaps


def spec(tool: str, version: int | None = None, *, server: str = "") -> ToolSpec:
    origin = Origin(kind="mcp" if server else "host", server=server, tool=tool)
    return ToolSpec(name=origin.flat_name(), origin=origin, version=version)


def test_a_version_is_part_of_the_full_name() -> None:
    two = spec("t", 2)
    assert (two.name, two.base, two.names) == ("t@2", "t", ("t@2", "t"))
    there = spec("t", 2, server="s")
    assert (there.name, there.base) == ("s__t@2", "s__t")
    assert there.names_at_origin == ("t@2", "t")
    plain = spec("t")
    assert (plain.names, plain.names_at_origin) == (("t",), ("t",))


def test_the_shared_name_is_that_of_the_newest() -> None:
    catalog = Catalog(specs=(spec("t", 10), spec("t", 9), spec("u")))
    assert [one.name for one in catalog.answering(("t",))] == ["t@10", "t@9"]
    assert [one.name for one in catalog.answering(("t@9", "u", "v"))] == ["t@9", "u"]
    newest = catalog.get("t")
    assert newest is not None and newest.name == "t@10"
    assert catalog.names == ("t@10", "t@9", "u", "t")
    assert [catalog.is_settled(name) for name in ("t", "t@9", "u", "v")] == [
        False,
        True,
        True,
        False,
    ]


def test_a_tool_is_found_where_it_comes_from() -> None:
    catalog = Catalog(specs=(spec("t", 1, server="s"), spec("t", 2, server="s")))
    found = {path: catalog.find("mcp", path) for path in ("s/t", "s/t@1", "s/t@3")}
    assert {path: one and one.name for path, one in found.items()} == {
        "s/t": "s__t@2",
        "s/t@1": "s__t@1",
        "s/t@3": None,
    }


@pytest.mark.parametrize(
    ("specs", "problem"),
    [
        ((spec("t"), spec("t", 1)), "without a version"),
        ((spec("t", 1), spec("t", 1)), "two tools are called `t@1`"),
        ((spec("t@1"),), "declared beside the name"),
        ((spec("t", 0),), "whole number"),
        ((spec("t", True),), "whole number"),
        ((spec("b", 1, server="a"), spec("a__b", 2)), "two tools are called `a__b`"),
    ],
)
def test_what_cannot_stand_together_is_refused(specs: tuple[ToolSpec, ...], problem: str) -> None:
    with pytest.raises(CatalogError, match=problem):
        Catalog(specs=specs)


def test_a_server_may_call_a_tool_as_if_it_were_a_version() -> None:
    odd = spec("t@2", server="s")
    catalog = Catalog(specs=(odd, spec("t", server="s")))
    assert catalog.get("s__t@2") is odd
    assert not ToolPattern(text="s__t").matcher(grants=True)(odd)


def test_versions_take_the_place_of_a_tool_without_one_only_where_that_is_meant() -> None:
    before = Catalog(specs=(spec("t"), spec("u")))
    with pytest.raises(CatalogError):
        before.with_tools((spec("t", 1),))
    after = before.with_tools((spec("t", 1), spec("t", 2)), converting=True)
    assert [one.name for one in after.specs] == ["u", "t@1", "t@2"]
    again = after.with_tools((spec("t", 1),))
    assert len(again.specs) == 3
    assert [o.name for o in again.with_tools((spec("t"),), converting=True).specs] == ["u", "t"]


@pytest.mark.parametrize(
    ("entry", "name", "version"),
    [
        ({"name": "t", "version": 2}, "t@2", 2),
        ({"name": "t@3"}, "t@3", 3),
        ({"name": "t"}, "t", None),
        ({"name": "@3"}, "@3", None),
    ],
)
def test_a_list_of_the_hosts_tools_may_name_versions(
    entry: dict[str, Any], name: str, version: int | None
) -> None:
    listing = read_listing([entry])
    assert listing.problems == ()
    assert [(one.name, one.version) for one in listing.specs] == [(name, version)]
    assert Catalog(specs=listing.specs).get(name) is listing.specs[0]


@pytest.mark.parametrize("version", [0, -1, True, "2", 1.5])
def test_a_version_that_is_no_number_is_a_problem(version: Any) -> None:
    assert read_listing([{"name": "t", "version": version}]).problems != ()
    # What an unreviewed server says of versions counts for nothing.
    others = read_listing([{"name": "t", "version": version}], server="s")
    assert [one.name for one in others.specs] == ["s__t"]


def test_names_are_mended_to_versions_and_to_what_they_share() -> None:
    catalog = Catalog(specs=(spec("translate", 1), spec("translate", 2)))
    for asked, meant in [
        ("Translate", "translate"),
        ("TRANSLATE@1", "translate@1"),
        ("translat", "translate"),
    ]:
        found = repair_name(asked, catalog)
        assert found is not None and found.name == meant
    assert repair_name("translate@3", catalog) is None


# ------------------------------------------------------------------ laws

TOOLS = st.builds(
    spec,
    st.sampled_from(["t", "tt", "tu"]),
    st.sampled_from([None, 1, 2, 12]),
    server=st.sampled_from(["", "t"]),
)
TEXTS = st.text(alphabet="tu@12*?_", min_size=1, max_size=5)
SELECTORS = st.builds(
    ToolSelector,
    included=st.lists(st.builds(ToolPattern, text=TEXTS), min_size=1, max_size=2).map(tuple),
    grants=st.booleans(),
)


@given(TOOLS, TEXTS, st.booleans())
def test_a_pattern_that_fits_the_shared_name_fits_every_version(
    tool: ToolSpec, text: str, grants: bool
) -> None:
    pattern = ToolPattern(text=text).matcher(grants=grants)
    if pattern(ToolSpec(name=tool.base, origin=tool.origin)):
        assert pattern(tool)


@given(TOOLS, SELECTORS)
def test_exact_names_are_names_that_whatever_fits_answers_to(
    tool: ToolSpec, selector: ToolSelector
) -> None:
    names = selector.exact_names()
    if names is not None and selector.matches(tool):
        assert names & set(tool.names)
        assert tool in Catalog(specs=(tool,)).answering(names)


@given(TOOLS, SELECTORS, SELECTORS)
def test_two_selectors_that_a_later_version_fits_may_meet(
    tool: ToolSpec, left: ToolSelector, right: ToolSelector
) -> None:
    known = () if tool.version is None else (ToolSpec(**_older(tool)),)
    overlaps = SelectorOverlaps(catalog=Catalog(specs=known))
    if left.matches(tool) and right.matches(tool):
        assert overlaps.may_meet_unknown(left, right)


def _older(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.base, "origin": tool.origin, "version": 99}
