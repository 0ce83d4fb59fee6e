"""Laws about conditions that compare values: every call is among the readings of all calls."""

from __future__ import annotations

from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.catalog import SchemaView
from policy.checks import checked
from policy.evaluation import DeclaredResources, Evaluation, Indeterminate
from policy.model import Caller, Facts, ToolCall
from policy.solving import Clauses, Model, Search
from policy.symbolic import AllCalls, leaves_of
from policy.symbolic.reading import Scope, compiled, truth_of
from tests.examples import examples
from tests.laws.compared_values import INPUTS, MARK, NOW, checked_condition, conditions
from tests.laws.situations import Tally

DECLARED = DeclaredResources((), complete=True, unseen=False)
SLOTS = 20


def _call(input: dict[str, Any], *, now: datetime | None, user: str | None) -> Evaluation:
    call = ToolCall(tool="mark", input=input)
    facts = Facts(now=now, context=MappingProxyType({} if now is None else {"t": now}))
    return Evaluation(MARK, call.input, caller=Caller(user=user), facts=facts, slots=SLOTS)


def test_what_the_engine_says_of_a_call_is_a_reading_of_all_calls() -> None:
    tally = Tally()

    @settings(max_examples=examples(300))
    @given(
        st.lists(conditions(), min_size=1, max_size=4),
        INPUTS,
        NOW,
        st.sampled_from((None, "a", "b")),
    )
    @example(["input.t == input.x", "0 < input.x"], {"t": "", "x": ""}, None, None)
    def law(texts: list[str], input: dict[str, Any], now: Any, user: str | None) -> None:
        truths = _truths(texts, _call(input, now=now, user=user))
        assert _is_a_reading(truths), (texts, truths)
        tally.case(*(str(truth) for _, _, truth in truths))

    law()
    for truth in ("True", "False", "None"):
        tally.shows(truth, share=0.1)


# A mistake that is made on purpose, and conditions and an input by which it is found.
PLANTED: tuple[tuple[str, Any, list[str], dict[str, Any]], ...] = (
    (
        "policy.symbolic.comparing.quantities.Quantities._represented",
        lambda self, value: self._clauses.true,
        ["input.a + input.b > 1", "input.a > 5", "input.b == 1"],
        {"a": 2**53, "b": 1},
    ),
    (
        "policy.symbolic.comparing.field_quantities.FieldQuantities._has_whole_numbers",
        lambda self, steps: True,
        ["input.n > input.c", "input.n < input.a", "input.a <= input.c + 1"],
        {"n": 0.5, "c": 0, "a": 1},
    ),
    (
        "policy.symbolic.comparing.element_truths.ElementTruths._body",
        lambda self, test, element, scope: truth_of(test.of(element), scope, self._reading),
        ["input.s in input.x", "any y in input.x: y is present", 'input.s == "a"'],
        {"s": "a", "x": [None]},
    ),
    (
        "policy.symbolic.comparing.windows._borders",
        lambda test: range(0, 7 * 24 * 60, 24 * 60),
        ["now within 00:00..00:10"],
        {},
    ),
    (
        "policy.symbolic.comparing.equal_texts.EqualTexts._require_same",
        lambda self, pair, language: self._clauses.require(
            *(-text.is_in(language) for text in pair.texts)
        ),
        ["input.s == input.t", 'input.s starts with "a"', 'input.t starts with "a"'],
        {"s": "ab", "t": "ab"},
    ),
    (
        "policy.symbolic.comparing.elements._key",
        lambda test: test.kind,
        ["any y in input.k: y == 3", "any y in input.k: y == 5"],
        {"k": [3, 5]},
    ),
)


@pytest.mark.parametrize(("place", "mistake", "texts", "input"), PLANTED)
def test_a_planted_mistake_is_found(
    place: str, mistake: Any, texts: list[str], input: dict[str, Any], monkeypatch: Any
) -> None:
    truths = _truths(texts, _call(input, now=datetime(2026, 1, 1, 0, 15, tzinfo=UTC), user=None))
    assert _is_a_reading(truths)
    monkeypatch.setattr(place, mistake)
    assert not _is_a_reading(truths)


# A condition, where it stands, and what the engine says of it.
Said: TypeAlias = list[tuple[checked.Test, Scope, bool | None]]


def _truths(texts: list[str], call: Evaluation) -> Said:
    tests = [test for text in texts if (test := checked_condition(text)) is not None]
    scopes = [Scope(DECLARED, absent_is_false=absent_is_false) for absent_is_false in (True, False)]
    return [(test, scope, _said(test, scope, call)) for test in tests for scope in scopes]


def _is_a_reading(truths: Said) -> bool:
    """Return whether conditions may have these truths in a reading of all calls."""
    clauses = Clauses()
    tests = leaves_of(*(test for test, _, _ in truths))
    view = SchemaView(MARK.schema)
    reading = AllCalls(clauses, MARK, view, tests=tests, layers=(), slots=SLOTS)
    for test, scope, truth in truths:
        read = truth_of(test, scope, reading)
        clauses.require(read.holds if truth is True else -read.holds)
        clauses.require(read.fails if truth is False else -read.fails)
    with Search(clauses, steps=100_000) as search:
        return isinstance(search.solve(), Model)


def _said(test: checked.Test, scope: Scope, call: Evaluation) -> bool | None:
    truth = compiled(test, scope)(call)
    return None if isinstance(truth, Indeterminate) else truth
