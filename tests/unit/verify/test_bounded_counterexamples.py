"""Counterexamples are looked for in a bounded number of steps; of some tools there is none."""

from __future__ import annotations

from dataclasses import dataclass

from policy.symbolic import Situation, Values
from policy.verify.proof.replay import smallest
from tests.unit.verify.proving import proof, tool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    situation: Situation


def test_no_call_of_a_tool_with_an_invalid_schema_breaks_a_claim() -> None:
    broken = tool("t", {"n": {"type": "integer", "minimum": "0"}})
    found = proof("prove always deny t when input.n > 3", "a: allow t", specs=(broken,))
    assert (found.status, [basis.rule for basis in found.basis]) == ("holds", ["schema"])


def test_a_call_is_made_smaller_in_a_bounded_number_of_steps() -> None:
    decided: list[Situation] = []
    spec = tool("t", {})
    many: Values = {("input", f"f{n}"): n for n in range(200)}

    def decide(one: Situation) -> None:
        decided.append(one)

    shown = _Shown(situation=Situation(spec=spec, base={}, values=many))
    assert smallest(shown, decide, lambda _: tuple(range(20))) is shown
    assert len(decided) == 500
