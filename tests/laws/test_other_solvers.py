"""Claims about numbers and strings, against z3: broken if and only if it finds such values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.verify import Proof
from tests.examples import examples
from tests.laws.calls import once_in, pick
from tests.laws.engine import Unsound
from tests.laws.situations import Tally
from tests.unit.verify.proving import proof, tool

z3: Any = pytest.importorskip("z3", reason="z3 is installed on Linux on x86-64 alone")

SPEC = tool("mark", {"size": {"type": "integer"}, "note": {"type": "string"}})
SIZE, NOTE = z3.Int("size"), z3.String("note")
A, B = z3.Re("a"), z3.Re("b")
ANY = z3.Full(z3.ReSort(z3.StringSort()))
EXPRESSIONS = (
    ("[ab]+", z3.Plus(z3.Union(A, B))),
    ("a?b*", z3.Concat(z3.Option(A), z3.Star(B))),
    ("(ab|ba)*", z3.Star(z3.Union(z3.Re("ab"), z3.Re("ba")))),
    ("a{2,3}", z3.Loop(A, 2, 3)),
)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition as a rule spells it, and as z3 reads it."""

    text: str
    formula: Any


def _of_size(draw: DrawFn) -> _Condition:
    op, bound = pick(draw, ("==", "<", "<=", ">", ">=")), draw(st.integers(-2, 3))
    formulas = {
        "==": bound == SIZE,
        "<": bound > SIZE,
        "<=": bound >= SIZE,
        ">": bound < SIZE,
        ">=": bound <= SIZE,
    }
    return _Condition(f"input.size {op} {bound}", formulas[op])


def _of_note(draw: DrawFn) -> _Condition:
    text = draw(st.text("ab", min_size=1, max_size=3))
    word = z3.StringVal(text)
    source, expression = pick(draw, EXPRESSIONS)
    return pick(
        draw,
        (
            _Condition(f'input.note == "{text}"', word == NOTE),
            _Condition(f'input.note starts with "{text}"', z3.PrefixOf(word, NOTE)),
            _Condition(f'input.note ends with "{text}"', z3.SuffixOf(word, NOTE)),
            _Condition(f'input.note contains "{text}"', z3.Contains(NOTE, word)),
            _Condition(
                f'input.note like "{text}*b"',
                z3.InRe(NOTE, z3.Concat(z3.Re(text), ANY, B)),
            ),
            _Condition(f"input.note matches /{source}/", z3.InRe(NOTE, expression)),
        ),
    )


@st.composite
def _conditions(draw: DrawFn, depth: int = 2) -> _Condition:
    if not depth or once_in(draw, 3):
        return _of_size(draw) if once_in(draw, 2) else _of_note(draw)
    if once_in(draw, 3):
        inner = draw(_conditions(depth=depth - 1))
        return _Condition(f"not ({inner.text})", z3.Not(inner.formula))
    parts = [draw(_conditions(depth=depth - 1)) for _ in range(2)]
    word, join = pick(draw, (("and", z3.And), ("or", z3.Or)))
    return _Condition(
        f" {word} ".join(f"({p.text})" for p in parts), join(*(p.formula for p in parts))
    )


_PARTS = st.tuples(
    st.lists(_conditions(), min_size=1, max_size=2),
    st.lists(_conditions(), max_size=2),
    _conditions(),
)


def test_a_claim_is_broken_exactly_if_z3_finds_values_that_break_it() -> None:
    tally = Tally()

    @settings(max_examples=examples(150))
    @given(_PARTS)
    def law(drawn: tuple[list[_Condition], list[_Condition], _Condition]) -> None:
        allows, denies, claim = drawn
        solver = z3.Solver()
        solver.set("rlimit", 2_000_000)
        solver.add(claim.formula, z3.Or(*(one.formula for one in allows)))
        solver.add(*(z3.Not(one.formula) for one in denies))
        rules = [f"allow mark when {one.text}" for one in allows]
        rules += [f"deny mark when {one.text}" for one in denies]
        # Some of the rules may be said to have no effect; that is no concern here.
        found = _proof(f"prove never allow mark when {claim.text}", rules)
        answer = str(solver.check())
        if found is None or answer == "unknown":
            return
        if answer == "sat":
            assert found.status == "broken"
        else:
            # A string with invisible characters may meet parts of a claim that no other one does.
            shown = found.counterexample
            assert found.status != "broken" or (shown is not None and shown.unclear)
        tally.case(f"{answer} {found.status}")

    law()
    tally.shows("sat broken", share=0.1)
    tally.shows("unsat holds", share=0.1)


def _proof(claim: str, rules: list[str]) -> Proof | None:
    """Return the proof of a claim; None if a check refuses a rule that does nothing."""
    try:
        return proof(claim, *rules, specs=(SPEC,))
    except Unsound:
        return None
