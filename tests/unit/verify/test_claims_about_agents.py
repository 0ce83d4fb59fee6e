"""Claims about names of agents beside layers whose headers have patterns."""

from __future__ import annotations

import pytest

from tests.unit.verify.proving import layered_proof, tool

READ = tool("read", {"path": {"type": "string"}})
ALL = ("policy for every agent", "default allow")
LAYER = ('policy for agents "a-*"', "deny read")


@pytest.mark.parametrize(
    ("rules", "layer", "status"),
    [
        # A claim of a layer is about the agents that its header matches, however it is written.
        ((), ('policy for agents "a-b*"', "prove never allow read"), "holds"),
        ((), ('policy for agent "a-x"', "prove never allow read"), "holds"),
        ((), ('policy for agents "a*"', "prove never allow read"), "broken"),
        (
            ('deny read unless agent.name starts with "a-"',),
            ('policy for agents "*"', "prove never allow read"),
            "holds",
        ),
        (
            ('deny read unless agent.name starts with "a"',),
            ('policy for agents "*"', "prove never allow read"),
            "broken",
        ),
    ],
)
def test_headers_of_layers_are_compared(
    rules: tuple[str, ...], layer: tuple[str, ...], status: str
) -> None:
    files = {"global.policy": (*ALL, *rules), "agents/a.policy": LAYER, "agents/b.policy": layer}
    assert layered_proof(files, specs=(READ,)).status == status


def test_a_condition_on_a_name_is_also_about_a_disguised_one() -> None:
    claim = 'prove never allow read when agent.name == "a-x"'
    files = {"global.policy": (*ALL, claim), "agents/a.policy": LAYER}
    found = layered_proof(files, specs=(READ,))
    assert found.counterexample is not None
    assert found.counterexample.unclear
    assert found.counterexample.situation.caller.agent == "\u200ba-x"
    rule = 'deny read when agent.name == "a-x"'
    files = {"global.policy": (*ALL, rule, claim), "agents/a.policy": LAYER}
    assert layered_proof(files, specs=(READ,)).status == "holds"
