"""Cedar as an oracle: the same policies, translated, decide the same, and proofs agree with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.program import ALL_SHORTCUTS, Program
from policy.verify import prove
from tests.examples import examples
from tests.laws.calls import once_in, pick
from tests.laws.cedar_cases import (
    Case,
    building_blocks,
    case_of,
    common_world,
    disagreements,
    rows,
)
from tests.laws.cedar_world import Request, Untranslatable
from tests.laws.engine import Unsound
from tests.laws.situations import Tally

# Rows of which some policy or value has no counterpart here. May only be smaller.
UNTRANSLATED = {"handwritten": 0, "corpus_sample": 108}
_BY_CLOSURES = replace(ALL_SHORTCUTS, generated=False)


@cache
def _corpus(name: str) -> tuple[tuple[Case, ...], Counter[str]]:
    """Return the rows that translate, and why others do not."""
    cases, reasons = [], Counter[str]()
    for row in rows(name):
        try:
            case = case_of(row)
            for request in case.world.requests:
                case.translation.call(request)
        except Untranslatable as missing:
            reasons[str(missing)] += 1
        else:
            cases.append(case)
    return tuple(cases), reasons


@pytest.mark.parametrize("name", list(UNTRANSLATED))
def test_the_tests_of_cedar_are_decided_as_there(name: str) -> None:
    cases, reasons = _corpus(name)
    assert reasons.total() <= UNTRANSLATED[name], reasons
    for case in cases:
        wrong = list(disagreements(case, case.program(), case.world.requests))
        assert not wrong, f"{case}\n{wrong}"


@st.composite
def _conditions(draw: DrawFn, depth: int = 2) -> Any:
    """Draw a condition of the hand-written policies, or a combination of some."""
    parts = _conditions(depth=depth - 1)
    kind = pick(draw, ("part", "part", "&&", "||", "!", "if-then-else")) if depth else "part"
    match kind:
        case "part":
            return pick(draw, building_blocks()["condition"])
        case "!":
            return {"!": {"arg": draw(parts)}}
        case "if-then-else":
            return {kind: {"if": draw(parts), "then": draw(parts), "else": draw(parts)}}
        case _:
            return {kind: {"left": draw(parts), "right": draw(parts)}}


@st.composite
def _policies(draw: DrawFn) -> dict[str, Any]:
    """Draw a policy made of parts of others."""
    scopes = {
        kind: pick(draw, building_blocks()[kind]) if once_in(draw, 2) else {"op": "All"}
        for kind in ("principal", "action", "resource")
    }
    kinds = draw(st.lists(st.sampled_from(("when", "unless")), max_size=2))
    return {
        "effect": pick(draw, ("permit", "permit", "forbid")),
        **scopes,
        "conditions": [{"kind": kind, "body": draw(_conditions())} for kind in kinds],
    }


@st.composite
def _cases(draw: DrawFn) -> Case:
    drawn = draw(st.lists(_policies(), min_size=1, max_size=5))
    policies = {f"policy{number}": policy for number, policy in enumerate(drawn)}
    forbids = [name for name, policy in policies.items() if policy["effect"] == "forbid"]
    elsewhere = frozenset(name for name in forbids if once_in(draw, 2))
    try:
        return Case(world=common_world(), policies=policies, elsewhere=elsewhere)
    except Untranslatable:
        assume(False)
        raise


def _program(case: Case, *more: str) -> Program:
    try:
        return case.program(*more)
    except Unsound:
        assume(False)  # a rule without effect, of which the checker tells
        raise


_REQUESTS = st.integers(0, len(common_world().requests) - 1).map(
    lambda number: common_world().requests[number]
)


def test_combinations_of_policies_are_decided_as_by_cedar() -> None:
    tally = Tally()

    @settings(max_examples=examples(150))
    @given(_cases(), st.lists(_REQUESTS, min_size=12, max_size=12))
    def law(case: Case, requests: list[Request]) -> None:
        wrong = list(disagreements(case, _program(case), requests))
        assert not wrong
        for request in requests:
            found = case.by_cedar(request)
            tally.case("allowed" if found.allowed else "denied", "failed" if found.failed else "")

    law()
    tally.shows("allowed", share=0.1)
    tally.shows("denied", share=0.1)
    tally.shows("failed", share=0.05)


@dataclass(frozen=True, slots=True)
class _Rules:
    program: Program


@st.composite
def _claims(draw: DrawFn) -> tuple[Case, Case]:
    """Draw policies with a claim, and a case that allows what does not meet it."""
    case = draw(_cases())
    forbids = [one for one in case.policies.values() if one["effect"] == "forbid"]
    every = {"op": "All"}
    claim = {
        **(pick(draw, forbids) if forbids and once_in(draw, 2) else {}),
        "effect": "forbid",
        **dict.fromkeys(("principal", "action", "resource"), every),
    }
    claim.setdefault("conditions", [{"kind": "when", "body": draw(_conditions(depth=1))}])
    unmet = {"all": {**claim, "effect": "permit", "conditions": []}, "claim": claim}
    try:
        return replace(case, claim=claim), Case(world=case.world, policies=unmet)
    except Untranslatable:
        assume(False)
        raise


def test_what_is_proved_is_never_contradicted_by_cedar() -> None:
    """A claim `never allow` that holds: no request that meets it is allowed by Cedar."""
    tally = Tally()

    @settings(max_examples=examples(150))
    @given(_claims(), st.lists(_REQUESTS, min_size=20, max_size=20))
    def law(drawn: tuple[Case, Case], requests: list[Request]) -> None:
        case, unmet = drawn
        (proof,) = prove(_Rules(_program(case, f"prove never allow {case.claimed}")))
        tally.case(proof.status)
        for request in requests if proof.status == "holds" else ():
            if not unmet.by_cedar(request).allowed:
                tally.case("a request meets it")
                assert not case.by_cedar(request).allowed, (proof, request)

    law()
    tally.shows("holds", share=0.02)
    tally.shows("a request meets it", share=0.1)


# ------------------------------------------------------------------ an evaluator that is broken


def _one_of_two(tests: Any) -> Any:
    return tests[0]


def _below(op: str, left: Any, right: Any) -> bool:
    signs: dict[str, Callable[[Any, Any], bool]] = {
        "<": lambda a, b: a <= b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a > b,
        "==": lambda a, b: a == b,
    }
    return signs[op](left, right)


@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("decision.judgement._matching", lambda rules, truth: ()),
        ("evaluation.conditions.any_of", _one_of_two),
        ("evaluation.conditions.all_of", _one_of_two),
        ("evaluation.conditions._in_texts", lambda texts, value: True),
        ("evaluation.conditions._in_list", lambda value, items: False),
        ("evaluation.conditions._absent", lambda place, text: True),
        ("evaluation.conditions._truth", lambda value: True),
        ("evaluation.comparison._numbers", _below),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_broken_evaluator_is_found(
    monkeypatch: pytest.MonkeyPatch, part: str, broken: Any
) -> None:
    every = [case for file in UNTRANSLATED for case in _corpus(file)[0]]
    monkeypatch.setattr(f"policy.{part}", broken)
    found = (
        wrong
        for case in every
        for wrong in disagreements(case, case.program(shortcuts=_BY_CLOSURES), case.world.requests)
    )
    assert next(found, None) is not None
