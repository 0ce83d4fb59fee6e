"""Claims about numbers, over universes so small that the engine decides every call."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.decision import answer
from policy.model import Caller, Facts, GuestScope, Verdict
from policy.verify import prove
from tests.examples import examples
from tests.laws.engine import Built, Unsound
from tests.laws.situations import Tally
from tests.unit.verify.proving import built_of, tool

pytest.importorskip("z3", reason="z3 is installed on Linux on x86-64 alone")

LEAST, MOST = -1, 2
SMALL = {"type": "integer", "minimum": LEAST, "maximum": MOST}
PAY = tool("pay", {"a": SMALL, "b": SMALL, "c": SMALL})
ANYBODY = Caller(scope=GuestScope(allowed_tools=("*",)))
VALUES = ("input.a", "input.b", "input.c", "0", "1", "2", "3")

FORMS = ("({} + {})", "({} - {})", "({} * {})", "min({}, {})", "max({}, {})")


@st.composite
def _sums(draw: st.DrawFn, depth: int = 2) -> str:
    if not depth or draw(st.booleans()):
        return draw(st.sampled_from(VALUES))
    left, right = draw(_sums(depth=depth - 1)), draw(_sums(depth=depth - 1))
    return draw(st.sampled_from(FORMS)).format(left, right)


@st.composite
def _conditions(draw: st.DrawFn) -> str:
    count = draw(st.integers(1, 3))
    ops = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
    parts = [f"{draw(_sums())} {draw(ops)} {draw(_sums())}" for _ in range(count)]
    return f" {draw(st.sampled_from(('and', 'or')))} ".join(parts)


def _allows_a_call(built: Built) -> bool:
    """Return whether the engine allows some call, by trying all of them."""
    values = range(LEAST, MOST + 1)
    calls = ({"a": a, "b": b, "c": c} for a, b, c in product(values, repeat=3))
    verdicts = (answer(built.program, "pay", call, ANYBODY, Facts()) for call in calls)
    return any(outcome.decision.verdict is Verdict.ALLOW for outcome in verdicts)


def test_a_claim_about_sums_and_products_is_broken_exactly_if_a_call_breaks_it() -> None:
    tally = Tally()

    @settings(max_examples=examples(150))
    @given(st.lists(_conditions(), min_size=1, max_size=2), _conditions(), _conditions())
    def law(allowed: list[str], denied: str, claimed: str) -> None:
        def built(*, also: str) -> Built:
            allows = (f"allow pay when {one}{also}" for one in allowed)
            claim = f"prove never allow pay when {claimed}"
            statements = ("policy for every agent", "default deny", *allows)
            statements += (f"deny pay when {denied}", claim)
            return built_of({"global.policy": statements}, specs=(PAY,))

        try:
            (found,) = prove(built(also=""))
            broken = _allows_a_call(built(also=f" when {claimed}"))
        except Unsound:
            return  # a condition that is true of every call, or of none
        assert found.status == ("broken" if broken else "holds")
        tally.case(found.status)

    law()
    tally.shows("broken", share=0.2)
    tally.shows("holds", share=0.1)
