"""Proves claims: for each tool, either no call breaks one, or a call that does is shown.

A claim that holds rests on a formula that has every call among its readings and still cannot be
satisfied. A claim that is broken is shown by a call that the engine has decided. Where neither is
found, the claim is undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from policy.program import Program
from policy.verify.proof.claims import ClaimQuestion, LayerClaim, claims_of
from policy.verify.proof.counterexample import Counterexample
from policy.verify.proof.proof import STEPS, Progress, Proof, ToolProof, because_of

if TYPE_CHECKING:
    from policy.symbolic import Situation
    from policy.verify.proof.search import Known


class Provable(Protocol):
    """A generation, as far as claims are proved of it."""

    @property
    def program(self) -> Program:
        """Its rules, compiled."""
        ...


def prove(
    generation: Provable, *, steps: int = STEPS, progress: Progress | None = None
) -> Iterator[Proof]:
    """Yield the proof of every claim of a policy, in the order of its layers.

    `steps` bounds the conflicts of the solver, for each claim and tool. `progress` is told how many
    claims are proved.
    """
    known: Known = {}
    claims = tuple(claims_of(generation.program))
    for number, claim in enumerate(claims):
        if progress is not None:
            progress(number, len(claims))
        yield _proved(claim, steps=steps, known=known)


def _proved(claim: LayerClaim, *, steps: int, known: Known) -> Proof:
    found: dict[str, ToolProof] = {}
    for question in claim.questions():
        answer = found[question.spec.name] = answer_to(question, steps=steps, known=known)
        if answer.status == "broken":
            break
    return claim.proof(found)


def answer_to(
    question: ClaimQuestion, *, steps: int = STEPS, known: Known | None = None
) -> ToolProof:
    """Return what is known of one claim about one tool.

    `known` keeps what questions about the same program have in common, from one to the next.
    """
    try:
        return _answer_to(question, steps=steps, known=known)
    except Exception as error:  # noqa: BLE001 — a mistake of ours leaves one claim open, no more
        return ToolProof(status="undecided", because=because_of(error))


def _answer_to(question: ClaimQuestion, *, steps: int, known: Known | None) -> ToolProof:
    # With it comes the solver, which a policy without claims does without.
    from policy.verify.proof.search import ProofSearch

    search = ProofSearch(question, steps=steps, known=known)
    kept = search.what_keeps_it()
    if isinstance(kept, tuple):
        return ToolProof(status="holds", basis=kept, about_nothing=not kept)
    found = search.counterexample(kept)
    if found is not None:
        return ToolProof(status="broken", counterexample=found)
    because = search.why_no_call_is_tried
    return ToolProof(
        status="undecided",
        left_open=search.left_open,
        because=because,
        open_conditions=search.open_conditions,
    )


def decide_again(question: ClaimQuestion, situation: Situation) -> Counterexample | None:
    """Return a call as a counterexample; None if it does not break the claim."""
    from policy.verify.proof.search import ProofSearch

    return ProofSearch(question, steps=STEPS).decided(situation)
