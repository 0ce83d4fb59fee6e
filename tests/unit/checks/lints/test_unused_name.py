"""Which names are reported as unused, and what counts as a use."""

from __future__ import annotations

import pytest

from tests.unit.checks.checking import codes_of

HEAD = "policy for every agent\ndefault deny\n"


@pytest.mark.parametrize(
    "body",
    [
        'paths a = "/a/**"\npaths b = "/b/**"\nr: deny * when reads [a, b]\n',
        'let a = "/a"\npaths b = "${a}/**"\nr: deny * when reads b\n',
        'strings a = "x"\nr: deny * when session.role matches /"/ and session.role in a\n',
        'use "p.policy" with where = a\npaths a = "/a/**"\n',
    ],
)
def test_a_name_that_is_used_is_not_spoken_of(body: str) -> None:
    pack = 'pack "p"\nparam where: paths\nr: deny * when reads where\n'
    assert codes_of({"global.policy": HEAD + body, "p.policy": pack}) == []


def test_a_layer_may_use_what_the_layer_of_every_agent_defines() -> None:
    files = {
        "global.policy": HEAD + 'paths a = "/a/**"\n',
        "agents/x.policy": 'policy for agent "x"\nr: deny * when reads a\n',
    }
    assert codes_of(files) == []
    files["agents/x.policy"] = 'policy for agent "x"\nr: deny * when reads "/a/**"\n'
    assert codes_of(files) == ["unused-name"]


def test_the_names_of_a_pack_are_for_whoever_uses_it() -> None:
    files = {
        "global.policy": HEAD + 'use "p.policy"\n',
        "p.policy": 'pack "p"\npaths a = "/a/**"\n',
    }
    assert codes_of(files) == []


def test_nothing_is_said_where_a_use_may_be_in_what_is_wrong() -> None:
    assert codes_of({"global.policy": HEAD + 'paths a = "/a/**"\nr: deny file_raed\n'}) == [
        "unknown-tool"
    ]
