"""The parts of a clause that an explanation lists give the clause its outcome."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings

from policy.decision import ClauseOutcome, Explanation, Outcome, PartOutcome, explain
from tests.examples import examples
from tests.laws.situations import Situation, Tally, situations


def test_the_outcome_of_a_clause_follows_from_its_parts() -> None:
    tally = Tally()

    @settings(max_examples=examples(500))
    @given(situations())
    def law(case: Situation) -> None:
        program, decision = case.built.program, case.decision()
        divided = explain(program, decision, caller=case.caller, facts=case.facts)
        whole = explain(program, decision, caller=case.caller, facts=case.facts, parts=False)
        seen = {word for clause in _clauses(divided) for word in _checked(clause)}
        tally.case(*seen)
        for clause, plain in zip(_clauses(divided), _clauses(whole), strict=True):
            assert (clause.outcome, clause.why) == (plain.outcome, plain.why)
            assert plain.parts == () and plain.resources == ()

    law()
    for word in ("and", "or", "resources"):
        tally.shows(word, share=0.02)


def _clauses(told: Explanation) -> list[ClauseOutcome]:
    return [clause for layer in told.layers for rule in layer.rules for clause in rule.clauses]


def _checked(test: ClauseOutcome | PartOutcome) -> Iterator[str]:
    """Check a part and those inside it; yield what they showed."""
    outcomes = [part.outcome for part in test.parts]
    match test.operator:
        case "and":
            assert test.outcome == _strictest(outcomes, decided="fails")
        case "or":
            assert test.outcome == _strictest(outcomes, decided="holds")
        case "not":
            (part,) = outcomes
            opposite: dict[Outcome, Outcome] = {"holds": "fails", "fails": "holds"}
            assert test.outcome == opposite.get(part, part)
        case None:
            assert outcomes == []
    yield "resources" if test.resources else test.operator or "plain"
    for inner in test.parts:
        yield from _checked(inner)


def _strictest(outcomes: list[Outcome], *, decided: Outcome) -> Outcome:
    """Return Kleene's conjunction, or his disjunction for `decided` "holds"."""
    if decided in outcomes:
        return decided
    if "indeterminate" in outcomes:
        return "indeterminate"
    return "holds" if decided == "fails" else "fails"
