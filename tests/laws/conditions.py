"""Conditions drawn from one call's own fields and values, as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from policy.call import ToolCall
from tests.laws.calls import FIELDS, VERBS_OF


def literal(value: Any) -> str:
    """Write a value as the language does."""
    return json.dumps(value)


def _kept(call: ToolCall, kind: type | tuple[type, ...]) -> list[tuple[str, Any]]:
    return [
        (name, value)
        for name, value in call.input.items()
        if isinstance(value, kind) and not isinstance(value, bool)
    ]


@st.composite
def _text_test(draw: DrawFn, call: ToolCall) -> str:
    own = [(f"input.{name}", value) for name, value in _kept(call, str)]
    places = [*own, *own, ("input.a", "p"), ("input.b", "q"), ("input.box.c", "p")]
    place, value = draw(st.sampled_from(places))
    if draw(st.integers(0, 3)) == 0:
        value = draw(st.sampled_from(["p", "q", "pq"]))
    plain = "".join(char for char in value if char.isalnum())[:3] or "p"
    return draw(
        st.sampled_from(
            [
                f"{place} == {literal(value)}",
                f"{place} != {literal(value)}",
                f'{place} in [{literal(value)}, "zz"]',
                f'{place} not in [{literal(value)}, "zz"]',
                f"{place} in letters",
                f"{place} not in letters",
                f"{place} starts with {literal(value[:1])}",
                f"{place} ends with {literal(value[-2:])}",
                f"{place} contains {literal(plain)}",
                f"{place} contains /{plain}/",
                f"{place} matches /.*{plain}.*/",
                f"{place} like {literal(plain[:1] + '*')}",
                f"{place} is a string",
            ]
        )
    )


@st.composite
def _number_test(draw: DrawFn, call: ToolCall) -> str:
    own = [(f"input.{name}", value) for name, value in _kept(call, (int, float))]
    place, value = draw(st.sampled_from([*own, *own, ("input.n", 5), ("input.box.c", 5)]))
    op = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
    other = draw(st.sampled_from([value, value, 1, 5, 3.5]))
    return draw(
        st.sampled_from(
            [
                f"{place} {op} {literal(other)}",
                f"{place} + 1 {op} {literal(other)}",
                f"{place} * 2 {op} {literal(other)}",
                f"max({place}, 3) {op} {literal(other)}",
                f"{place} in amounts",
                f"{place} is a number",
            ]
        )
    )


def _list_test(call: ToolCall) -> SearchStrategy[str]:
    value = next((v for _, v in _kept(call, tuple) for v in v if isinstance(v, str)), "p")
    return st.sampled_from(
        [
            f"(any t in input.tags: t == {literal(value)})",
            f"(all t in input.tags: t == {literal(value)})",
            "(all t in input.tags: t in letters)",
            "(all t at i in input.tags: i < 2)",
            "(any t in input.tags: t == input.a)",
            f"{literal(value)} in input.tags",
            f"input.tags[0] == {literal(value)}",
            "input.tags[-1] == input.b",
            "length(input.tags) > 1",
            f"count(t in input.tags: t == {literal(value)}) >= 1",
            f'first(t in input.tags: t != {literal(value)}) == "q"',
            "input.tags is a list",
        ]
    )


_FACT_TESTS = (
    'agent.name == "ann"',
    'session.role == "clerk"',
    '"g" in user.groups',
    'user.id == "u"',
    "agent.depth > 0",
    'agent.parent == "bob"',
    'tool.server == "bank"',
    "is_clerk",
    "has_box",
)


def _presence_test(call: ToolCall) -> SearchStrategy[str]:
    names = [*call.input, *FIELDS]
    return st.builds(
        lambda name, what: f"input.{name} is {what}",
        st.sampled_from([*names, "box.c", "box.c.d"]),
        st.sampled_from(["absent", "present"]),
    )


_ITEMS: Mapping[str, tuple[str, ...]] = {
    "reads": ("tree_p", '"/srv/p/**"', '"/srv/*"', '"**/x"', "workspace", '["/etc/*", tree_p]'),
    "writes": ("tree_p", '"/srv/p/**"', '"p/*"', '["/etc/**"]'),
    "connects": ("corp", '"*.corp.example"', "[private]", '[corp, "evil.example"]', '"10.0.0.0/8"'),
    "runs": ("safe", '"git *"', '"git status"', '[safe, "rm *"]'),
}


@st.composite
def _resource_test(draw: DrawFn, call: ToolCall, *, permits: bool) -> str:
    verb = draw(st.sampled_from(VERBS_OF[call.tool]))
    item = draw(st.sampled_from(_ITEMS[verb]))
    to = "to " if verb == "connects" else ""
    forms = ("only", "only", "only", "any") if permits else ("", "", "outside")
    form = draw(st.sampled_from(forms))
    if form == "outside":
        return f"{verb} outside {item}"
    return f"{verb} {form} {to}{item}" if form else f"{verb} {to}{item}"


@st.composite
def conditions(draw: DrawFn, call: ToolCall, *, permits: bool, depth: int = 2) -> str:
    """Draw a condition about this call, for a place that permits or one that restricts."""
    kind = draw(st.integers(0, 13))
    if depth and kind < 2:
        joined = draw(st.sampled_from([" and ", " or "]))
        parts = draw(
            st.lists(conditions(call, permits=permits, depth=depth - 1), min_size=2, max_size=2)
        )
        return "(" + joined.join(parts) + ")"
    if depth and kind == 2:
        return "not (" + draw(conditions(call, permits=not permits, depth=depth - 1)) + ")"
    if kind < 6 and call.tool in VERBS_OF:
        return draw(_resource_test(call, permits=permits))
    return draw(
        st.one_of(
            _text_test(call),
            _text_test(call),
            _number_test(call),
            _list_test(call),
            _presence_test(call),
            st.sampled_from(_FACT_TESTS),
        )
    )
