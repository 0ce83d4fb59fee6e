"""Tries texts against a claim that is proved, as the value of a field that names a resource."""

from __future__ import annotations

from collections.abc import Iterable

from policy.catalog import ToolSpec
from policy.decision import answer
from policy.model import Caller, Facts, Verdict
from policy.verify import prove
from tests.laws.situations import Tally
from tests.unit.verify.proving import built_of, met


def try_texts(
    policy: tuple[ToolSpec, tuple[str, ...]],
    facts: Facts,
    texts: Iterable[str],
    *,
    other: str,
    tally: Tally,
) -> None:
    """Prove the claim of a policy about one tool; where it holds, no text in a call breaks it.

    A text is the value of the tool's first field, `other` that of all others.
    """
    spec, statements = policy
    built = built_of({"global.policy": statements}, specs=(spec,))
    (proof,) = prove(built)
    tally.case(proof.status)
    if proof.status != "holds" or proof.about_nothing:
        return
    first, *more = spec.schema["properties"]
    for text in texts:
        input, caller = {first: text, **dict.fromkeys(more, other)}, Caller(agent="a")
        decision = answer(built.program, "t", input, caller, facts).decision
        if decision.verdict is Verdict.ALLOW:
            assert not met(built, proof, spec, input, caller=caller, facts=facts), text
