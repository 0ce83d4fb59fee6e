"""Edits that loosen a policy by what a condition is about: none is called the same, or tighter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policy.catalog import Resource, ToolSpec
from policy.verify import compare
from tests.unit.verify.proving import Policy, built_of, tool

TEXT = {"type": "string"}
EVERY = ("policy for every agent", "default allow")
FETCH = tool("fetch", {"url": TEXT}, Resource(verb="connects", steps=("url",)))
SHELL = tool("shell", {"command": TEXT}, Resource(verb="runs", steps=("command",)))
COPY = tool("copy", {"p": TEXT, "q": TEXT})
_LETTER = tool("t", {"m": {"type": "string", "enum": ["a", "b"], "default": "c"}})
LETTER = replace(_LETTER, schema={**_LETTER.schema, "required": []})
ANY_READ = 'when any r in call.reads: r == "/etc/x"'


@pytest.mark.parametrize(
    ("spec", "before", "after"),
    [
        (
            FETCH,
            ('d: deny fetch when connects to "10.1.2.3"',),
            (
                'hosts inside = "10.0.0.0/8" except "10.1.0.0/16"',
                "d: deny fetch when connects to inside",
            ),
        ),
        (
            SHELL,
            ('d: deny shell when runs "git push --force *"',),
            (
                'commands force = "git push --force *" except "git push -f *"',
                "d: deny shell when runs force",
            ),
        ),
        (
            SHELL,
            ("d: deny shell when connects to private",),
            (
                "hosts inside = private except redirected",
                "d: deny shell when connects to inside",
            ),
        ),
        (LETTER, ("d: deny t",), ('d: deny t when input.m in ["a", "b"]',)),
        (
            COPY,
            ("tool copy reads input.p", f"d: deny copy {ANY_READ}"),
            ("tool copy reads input.q", f"d: deny copy {ANY_READ}"),
        ),
    ],
    ids=("network", "command", "redirected", "default", "declaration"),
)
def test_a_loosening_is_reported(
    spec: ToolSpec, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    old, new = (
        Policy(program=built_of({"global.policy": (*EVERY, *rules)}, specs=(spec,)).program)
        for rules in (before, after)
    )
    assert compare(old, new).may_loosen


def test_a_tool_whose_calls_are_all_denied_is_the_same_under_every_rule() -> None:
    unreadable = replace(COPY, schema={"type": "object", "properties": {"p": {"$ref": "#/no"}}})
    old, new = (
        Policy(program=built_of({"global.policy": (*EVERY, *rules)}, specs=(unreadable,)).program)
        for rules in (("d: deny copy",), ('d: deny copy when input.p == "a"',))
    )
    (found,) = compare(old, new).tools
    assert found.status == "same"
