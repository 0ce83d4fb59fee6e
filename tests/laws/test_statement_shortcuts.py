"""Handling known statements in bulk gives the same result as one at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from policy.catalog import (
    Catalog,
    Origin,
    Resource,
    ToolPattern,
    ToolSelector,
    ToolSpec,
    includes,
    read_only_schema,
    select_name,
)
from policy.checks import Unit
from policy.checks.lints import redundant_allow
from policy.checks.names.scopes import Scope
from policy.checks.report import Report
from policy.checks.rules.reader import RuleNames, check_name, claim_names
from policy.incremental.inputs import Inputs
from policy.model import Source, Verdict
from policy.syntax import parse


@given(
    st.lists(
        st.sampled_from(
            ["a: deny x", "b: deny x", "deny x", "default deny", "none: allow x", "a: rewrite x "
             "set input.y = 1", "c: rewrite x set input.y = 1", "d: prove never allow x"]
        ),
        max_size=5,
    ),
    st.sampled_from([(), ("p",)]),
    st.booleans(),
)  # fmt: skip
def test_names_claimed_in_bulk_are_those_claimed_one_by_one(
    lines: list[str], prefix: tuple[str, ...], table: bool
) -> None:
    """A unit is read after one that has a rule called `b`, and then a second time."""
    text = "\n".join(["policy for every agent", *lines, ""])
    statements = parse(Source(name="a.policy", text=text)).tree.statements
    unit = Unit(statements=statements, scope=Scope(title="x"), names=prefix, table=table)
    before = Source(name="0", text="b").span(0, 1)
    at_once, singly = RuleNames(places={"b": before}), RuleNames(places={"b": before})
    context: Any = SimpleNamespace(report=Report())
    for _ in range(2):
        before = context.report.count
        for statement in statements:
            if hasattr(statement, "name"):
                check_name(statement, unit, singly, context)  # type: ignore[arg-type]
        claimed = claim_names(statements, unit, at_once)
        event(f"claimed: {claimed}")
        assert not claimed or context.report.count == before
        if not claimed:
            return
        assert list(at_once.places.items()) == list(singly.places.items())


@given(st.text(alphabet="ab_*?\\/é\n", max_size=4), st.booleans())
def test_a_bare_name_selects_what_its_full_selector_selects(text: str, grants: bool) -> None:
    if not text:
        with pytest.raises(ValueError, match="empty name"):
            select_name(text, grants=grants)
        return
    quick = select_name(text, grants=grants)
    plain = ToolSelector(included=(ToolPattern(text=text),), grants=grants)
    assert (quick, hash(quick), repr(quick)) == (plain, hash(plain), repr(plain))
    assert quick.exact_names() == plain.exact_names()
    specs = [ToolSpec(name=name, origin=Origin(tool=name)) for name in ("a", "ab", "a_b", "é")]
    assert [quick.matches(spec) for spec in specs] == [plain.matches(spec) for spec in specs]


patterns = st.builds(
    ToolPattern,
    origin=st.sampled_from([None, None, "mcp"]),
    text=st.sampled_from(["a/b", "a/*", "b/b", "a__b", "a", "b", "a*", "*", "\\*", "\\a"]),
).filter(lambda pattern: pattern.problem is None)
one_pattern = st.tuples(patterns)
selectors = st.builds(
    ToolSelector,
    included=one_pattern | one_pattern | st.lists(patterns, max_size=2).map(tuple),
    excluded=st.just(()) | st.just(()) | one_pattern,
    grants=st.just(True),
)


@given(st.lists(selectors, min_size=2, max_size=3))
def test_rules_about_different_tools_never_cover_each_other(tools: list[ToolSelector]) -> None:
    rules: Any = [SimpleNamespace(tools=one) for one in tools]
    apart = redundant_allow._are_of_one_tool_each(rules)
    event(f"apart: {apart}")
    if apart:
        assert not any(includes(a, b) for a, b in permutations(tools, 2))


SPEC = ToolSpec(
    name="mail",
    origin=Origin(kind="mcp", server="post", tool="mail"),
    schema=read_only_schema({"properties": {"to": {"enum": ["a", 1]}}}),
    resources=(Resource(verb="sends", steps=("to",)),),
)


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "mial"},
        {"origin": Origin(kind="ext", server="post", tool="mail")},
        {"origin": Origin(kind="mcp", server="past", tool="mail")},
        {"origin": Origin(kind="mcp", server="post", tool="mial")},
        {"description": "x"},
        {"schema": read_only_schema({"properties": {"to": {"enum": ["a", 2]}}})},
        {"schema": read_only_schema({"properties": {"to": {"enum": ["a", "1"]}}})},
        {"resources": (Resource(verb="reads", steps=("to",)),)},
        {"resources": (Resource(verb="sends", steps=("to", "*")),)},
        {"resources": (Resource(verb="sends", steps=("to",), tree=True),)},
        {"resources": ()},
        {"complete": True},
        {"unseen": True},
        {"requires_confirmation": True},
        {"exec_class": True},
        {"category": "x"},
        {"read_only": False},
        {"destructive": False},
        {"idempotent": False},
        {"pinned": True},
        {"unreviewed": Verdict.DENY},
        {"definition_digest": "x"},
        {"open_fields": True},
        {"fault": "x"},
    ],
    ids=str,
)
def test_catalogues_that_differ_in_a_tool_are_different(changed: dict[str, Any]) -> None:
    other = ToolSpec(name="other", origin=Origin(tool="other"))

    def digest(*specs: ToolSpec) -> str:
        catalog: Any = SimpleNamespace(specs=specs, complete=False)
        return Inputs().digest(catalog, data={}, digests={}, programs={})

    assert digest(SPEC, other) == digest(replace(SPEC), other) != digest(other, SPEC)
    assert digest(replace(SPEC, **changed), other) != digest(SPEC, other)


def test_a_complete_catalogue_differs_from_an_incomplete_one() -> None:
    def digest(catalog: Catalog) -> str:
        return Inputs().digest(catalog, data={}, digests={}, programs={})

    assert digest(Catalog()) != digest(Catalog(complete=True))
    schema: Any = {"properties": {"to": {"enum": ["a", 1]}}}
    plain = Catalog(specs=(replace(SPEC, name="post__mail", schema=schema),))
    assert digest(plain) == digest(Catalog(specs=(replace(SPEC, name="post__mail"),)))
