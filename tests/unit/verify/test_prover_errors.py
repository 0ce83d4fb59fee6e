"""A mistake of the prover itself leaves a claim or a tool undecided: the rest is found."""

from __future__ import annotations

import pytest

from policy.verify import (
    answer_of,
    answer_record,
    answer_to,
    claims_of,
    compare,
    problem_of,
)
from policy.verify.difference import question
from policy.verify.proof import search
from tests.unit.verify.proving import Policy, built_of, tool

MAIL = tool("mail", {"to": {"type": "string"}})


def test_an_exception_about_a_claim_leaves_it_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise LookupError("no such thing")

    monkeypatch.setattr(search.ProofSearch, "what_keeps_it", failing)
    statements = ("policy for every agent", "default deny", "prove never allow mail")
    program = built_of({"global.policy": statements}, specs=(MAIL,)).program
    (claim,) = claims_of(program)
    (question,) = claim.questions()
    found = answer_to(question)
    assert found.status == "undecided"
    assert "no such thing" in found.because
    assert answer_of(question, answer_record(found)) == found
    problem = problem_of(claim.proof({"mail": found}))
    assert problem is not None
    assert problem.help is not None
    assert "proves it again" in problem.help


def test_an_exception_about_a_tool_leaves_the_others_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = question.Question.is_surely_excluded

    def failing(self: question.Question, *asked: object) -> bool:
        if self._spec.name == "mail":
            raise RecursionError("too deep")
        return compared(self, *asked)  # type: ignore[arg-type]

    monkeypatch.setattr(question.Question, "is_surely_excluded", failing)
    specs = (MAIL, tool("note", {"text": {"type": "string"}}))
    before, after = (
        Policy(program=built_of({"global.policy": each}, specs=specs).program)
        for each in (
            ("policy for every agent", "default deny"),
            ("policy for every agent", "default deny", "deny mail, note"),
        )
    )
    found = compare(before, after)
    assert [(one.tool, one.status) for one in found.tools] == [
        ("mail", "undecided"),
        ("note", "same"),
    ]
    assert found.may_loosen
    because = "an internal error of Placet (RecursionError: too deep)"
    assert found.tools[0].looser.because == because
