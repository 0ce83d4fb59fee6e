"""Claims of layers that declare other resources of a tool than the global layer does."""

from __future__ import annotations

from tests.unit.verify.proving import layered_proof, tool

TEXT = {"type": "string"}
COPY = tool("copy", {"p": TEXT, "q": TEXT})
ANY_READ = 'when any r in call.reads: r == "/etc/x"'
EVERY = (
    "policy for every agent",
    "default allow",
    "tool copy reads input.q",
    f"d: deny copy {ANY_READ}",
)


def test_the_same_condition_is_another_one_where_a_layer_declares_another_argument() -> None:
    ann = (
        'policy for agent "ann"',
        "tool copy reads input.p",
        f"prove always deny copy {ANY_READ}",
    )
    found = layered_proof({"global.policy": EVERY, "agents/ann.policy": ann}, specs=(COPY,))
    assert found.status != "holds"


def test_the_same_condition_is_the_same_where_layers_declare_the_same() -> None:
    ann = ('policy for agent "ann"', f"prove always deny copy {ANY_READ}")
    found = layered_proof({"global.policy": EVERY, "agents/ann.policy": ann}, specs=(COPY,))
    assert found.status == "holds"
