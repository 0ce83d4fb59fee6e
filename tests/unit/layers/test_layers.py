"""Which callers a layer applies to, and how layers affect each other."""

from __future__ import annotations

import pytest

from policy.catalog import Catalog, builtin_catalog
from policy.checks import LayerKey
from policy.layers import applies_to, merge
from tests.unit.checks.checking import HEAD, checked, codes_of


@pytest.mark.parametrize(
    ("key", "agent", "role", "bound"),
    [
        (LayerKey(kind="every"), "a", "owner", True),
        (LayerKey(kind="agent", names=("a",)), "a", "owner", True),
        (LayerKey(kind="agent", names=("a",)), "A", "owner", False),
        (LayerKey(kind="agent", names=("a*",)), "ab", "owner", False),
        (LayerKey(kind="agents", names=("a*",)), "ab", "owner", True),
        (LayerKey(kind="agents", names=("x", "a?")), "abc", "owner", False),
        (LayerKey(kind="role", names=("guest",)), "guest", "owner", False),
        (LayerKey(kind="role", names=("guest",)), "a", "guest", True),
        (LayerKey(kind="agent", names=("Jos\u00e9",)), "Jose\u0301", "owner", True),
        (LayerKey(kind="agents", names=("Jose\u0301-*",)), "Jos\u00e9-1", "owner", True),
        (LayerKey(kind="agent", names=("ann",)), "a\u200bnn", "owner", False),
        (LayerKey(kind="role", names=("guest",)), "ann", "Guest", True),
        (LayerKey(kind="role", names=("guest",)), "ann", " gu\u200best", True),
        (LayerKey(kind="role", names=("Guest",)), "ann", "guest", True),
        (LayerKey(kind="role", names=("staff",)), "ann", "Staff", False),
        (LayerKey(kind="role", names=("owner",)), "ann", "Owner", False),
    ],
)
def test_a_layer_binds_whom_its_header_names(
    key: LayerKey, agent: str, role: str, bound: bool
) -> None:
    assert applies_to(key, agent=agent, role=role) is bound


def agent(body: str, *, everyone: str = "", defaults: str = "default deny\n") -> dict[str, str]:
    return {
        "global.policy": f"policy for every agent\n{defaults}{everyone}",
        "agents/x.policy": f'policy for agent "x"\n{body}',
    }


def test_the_global_layer_comes_first_and_no_rule_is_lost() -> None:
    files = agent("default deny\nr: allow file_read\n", everyone="s: allow file_read\n")
    found = checked(files)
    merged = merge(reversed(found.policies), builtin_catalog())
    assert [p.key.kind for p in merged.policy.layers] == ["every", "agent"]
    assert merged.policy.layers == found.policies
    assert merged.diagnostics == ()
    assert [p.key.kind for p in merged.policy.applying_to(agent="y", role="owner")] == ["every"]


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        # an allow of another layer
        (agent("r: allow file_read\n", everyone="s: allow file_read\n"), ["allow-without-effect"]),
        (agent("default deny\nr: allow file_read\n"), []),
        (agent("default ask for file_read\nr: allow file_read\n"), []),
        (agent("r: allow file_read\n", everyone='delegate file_* to agent "x"\n'), []),
        (
            agent("r: allow web_fetch\n", everyone='delegate file_* to agent "x"\n'),
            ["allow-without-effect"],
        ),
        # an ask that something reaches, or nothing
        ({"global.policy": HEAD + "r: ask file_read\n"}, ["unreached-ask"]),
        ({"global.policy": HEAD + "r: shadow ask file_read\n"}, []),
        ({"global.policy": HEAD + "r: ask file_read\ns: allow file_*\n"}, []),
        ({"global.policy": HEAD + "r: ask file_read\ns: allow file_write\n"}, ["unreached-ask"]),
        ({"global.policy": HEAD + "default ask for file_read\nr: ask file_read\n"}, []),
        (
            {"global.policy": "policy for every agent\ndefault ask\nr: ask file_read\n"},
            [],
        ),
        (
            {
                "global.policy": "policy for every agent\ndefault ask\n"
                "default deny for file_read\nr: ask file_read\n"
            },
            ["unreached-ask"],
        ),
        (agent("r: ask file_read\n", everyone="s: allow file_read\n"), []),
        (
            agent("default deny\nr: ask file_read\n", everyone="s: allow file_read\n"),
            ["unreached-ask"],
        ),
        (
            agent("r: ask file_read\n", everyone='delegate file_read to agent "x"\n'),
            ["unreached-ask"],
        ),
        (
            agent(
                "r: allow file_read\ns: ask file_read\n",
                everyone='delegate file_read to agent "x"\n',
            ),
            [],
        ),
        # delegations
        ({"global.policy": HEAD + 'delegate file_read to role "r"\n'}, ["delegate-to-nobody"]),
    ],
)
def test_statements_without_effect_are_found(files: dict[str, str], codes: list[str]) -> None:
    assert codes_of(files) == codes


def test_an_ask_of_a_pack_may_reach_nothing() -> None:
    files = {
        "global.policy": HEAD + 'use "careful.policy"\n',
        "careful.policy": 'pack "careful"\nlook: ask file_read\n',
    }
    assert codes_of(files) == []


def test_an_ask_for_tools_that_may_come_is_no_mistake() -> None:
    body = "r: ask mcp github/create_*\ns: allow mcp github/*\n"
    assert codes_of(body) == ["unknown-tool", "unknown-tool"]


def test_an_ask_for_tools_that_cannot_come_is_one() -> None:
    complete = Catalog(specs=builtin_catalog().specs, complete=True)
    body = "r: ask file_*\ns: allow list_*\n"
    assert codes_of(body, catalog=complete) == ["unreached-ask"]
    assert codes_of("r: ask file_*\ns: allow *_read\n", catalog=complete) == []


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [
        ("set input.timeout = 3", "set input.timeout = 3", False),
        ("set input.timeout = 3", "set input.timeout = 4", True),
        ("set input.timeout = 3", "remove input.timeout", True),
        ("set input.timeout = 3", "set input.timeout = at most 4", False),
        ("set input.timeout = 3", 'when session.role == "x" set input.timeout = 4', False),
        ("set input.timeout = 3", 'set input.command = "ls"', False),
    ],
)
def test_rewrites_conflict_where_they_always_differ(
    first: str, second: str, conflict: bool
) -> None:
    body = f"a: rewrite bash_exec {first}\nb: rewrite * {second}\n"
    found = [code for code in codes_of(body) if code == "rewrites-conflict"]
    assert found == (["rewrites-conflict"] if conflict else [])


def test_rewrites_of_one_agent_and_of_every_agent_conflict_too() -> None:
    files = agent(
        "a: rewrite bash_exec set input.timeout = 3\n",
        everyone="b: rewrite bash_exec set input.timeout = 4\n",
    )
    assert codes_of(files) == ["rewrites-conflict"]
    files["agents/y.policy"] = 'policy for agent "y"\nc: rewrite bash_exec set input.timeout = 5\n'
    assert codes_of(files) == ["rewrites-conflict"] * 2
