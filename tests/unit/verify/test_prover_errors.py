"""A mistake of the prover itself leaves a claim undecided: it loads, and says so."""

from __future__ import annotations

import pytest

from policy.verify import answer_of, answer_record, answer_to, claims_of
from policy.verify.proof import search
from tests.unit.verify.proving import built_of, tool

MAIL = tool("mail", {"to": {"type": "string"}})


def test_an_exception_about_a_claim_leaves_it_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise LookupError("no such thing")

    monkeypatch.setattr(search.ProofSearch, "what_keeps_it", failing)
    statements = ("policy for every agent", "default deny", "prove never allow mail")
    program = built_of({"global.policy": statements}, specs=(MAIL,)).program
    (question,) = (one for claim in claims_of(program) for one in claim.questions())
    found = answer_to(question)
    assert found.status == "undecided"
    assert "no such thing" in found.because
    assert answer_of(question, answer_record(found)) == found
