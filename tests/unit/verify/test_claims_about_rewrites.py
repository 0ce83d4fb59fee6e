"""Claims are about the input as it runs, so rewrites can keep them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.verify.proving import layered_proof, proof, tool

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
_ALL_REQUIRED = tool("t", {"p": TEXT, "q": TEXT, "n": NUMBER, "any": {}})
T = replace(_ALL_REQUIRED, schema={**_ALL_REQUIRED.schema, "required": ["p"]})


@pytest.mark.parametrize(
    ("rewrite", "claim", "status"),
    [
        ("set input.n = at most 60", "input.n > 60", "holds"),
        ("set input.n = at most 60", "input.n > 59", "broken"),
        ("set input.n = at most 60", "input.n is absent", "holds"),
        ("set input.n = at least 5", "input.n < 5", "holds"),
        ('when input.p == "a" set input.n = at least 5', "input.n < 5", "broken"),
        ('when input.p == "a" set input.n = at least 5', 'input.n < 5 and input.p == "a"', "holds"),
        ('set input.q = "y"', 'input.q like "x*"', "holds"),
        ('set input.q = "y"', 'input.q like "y*"', "broken"),
        ('set input.q = "y" if absent', "input.q is absent", "holds"),
        ('set input.q = "y" if absent', 'input.q == "x"', "broken"),
        ("remove input.q", "input.q is present", "holds"),
        ('when input.q == "x" set input.q = "y"', 'input.q == "x"', "holds"),
        ('when input.q == "x" set input.q = "y"', 'input.q == "y"', "broken"),
        ('unless input.q == "y" set input.q = "y"', 'input.q == "x"', "holds"),
        # What is not known of a field is not known of a rewritten one.
        ("set input.n = 1", 'input.q == "x"', "broken"),
        # For Python, `true` is 1; for conditions it is not.
        ("set input.any = 1", "input.any == true", "broken"),
        # What a redaction leaves is not modelled.
        ("redact input.q matching /a/", 'input.q contains "a"', "undecided"),
    ],
)
def test_what_a_rewrite_leaves_is_known(rewrite: str, claim: str, status: str) -> None:
    rules = ("allow t", f"change: rewrite t {rewrite}")
    found = proof(f"prove never allow t when {claim}", *rules, specs=(T,))
    assert found.status == status
    if status == "holds":
        assert "change" in {each.rule for each in found.basis}


def test_a_rewrite_keeps_only_what_its_layer_applies_to() -> None:
    claim = "prove never allow t when input.n > 60"
    rewrite = "rewrite t set input.n = at most 60"
    ann = ('policy for agent "ann"', rewrite)
    every = ("policy for every agent", "default allow")
    files = {"global.policy": (*every, claim), "agents/ann.policy": ann}
    assert layered_proof(files, specs=(T,)).status == "broken"
    files = {"global.policy": every, "agents/ann.policy": (*ann, claim)}
    assert layered_proof(files, specs=(T,)).status == "holds"


def test_a_shadow_rewrite_keeps_nothing() -> None:
    rules = ("allow t", "shadow rewrite t set input.n = at most 60")
    assert proof("prove never allow t when input.n > 60", *rules, specs=(T,)).status == "broken"
