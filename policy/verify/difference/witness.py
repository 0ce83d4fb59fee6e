"""`Witness`: a call that two policies decide differently, as both engines decided it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policy.checks import LayerKey
from policy.decision import Decision, answer
from policy.layers import applies_to
from policy.model import Verdict
from policy.program import Program
from policy.verify.difference.approvals import asked_terms, change_of_terms
from policy.verify.difference.changes import Direction
from policy.verify.proof.counterexample import call_text, given_of, given_text

if TYPE_CHECKING:
    from policy.symbolic import Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A call, and what the old and the new policy decide of it."""

    situation: Situation
    before: Decision
    after: Decision

    @property
    def call(self) -> str:
        """The call as a test in a rule file spells it."""
        return call_text(self.situation)

    @property
    def given(self) -> str:
        """The facts of the call that are not as usual, as a test spells them; empty for none."""
        return given_text(self.situation)

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Yield the facts of the call that are not as usual, by their names."""
        return given_of(self.situation)


def both_decisions(
    old: Program, new: Program, situation: Situation, layer: LayerKey
) -> Witness | None:
    """Return what both policies decide of a call to whose caller the layer applies."""
    caller = situation.caller
    if not applies_to(layer, agent=caller.agent, role=caller.role):
        return None
    given = situation.as_json()
    if given is None:
        return None
    before, after = (
        answer(program, situation.spec.name, given, caller, situation.facts).decision
        for program in (old, new)
    )
    return Witness(situation=situation, before=before, after=after)


def approval_direction(before: Decision, after: Decision) -> Direction:
    """Return how the approval that a call needs differs between two decisions that ask."""
    if {before.verdict, after.verdict} != {Verdict.ASK}:
        return "none"
    return change_of_terms(asked_terms(before.reasons), asked_terms(after.reasons))
