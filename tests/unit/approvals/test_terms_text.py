"""The phrases about who may answer a request, and what the answer serves."""

from __future__ import annotations

import pytest

from policy.approvals import answerable_by, serving_for
from policy.approvals.terms_text import exact_duration
from policy.model import Remembering, Terms


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (None, "anybody"),
        (Terms(), "anybody"),
        (Terms(groups=("a",)), "somebody of a"),
        (Terms(groups=("a", "b", "c")), "somebody of a, b or c"),
        (Terms(two_people=True), "two people"),
        (Terms(groups=("a",), two_people=True), "two people of a"),
        (Terms(groups=("a", "b"), two_people=True), "one person each of a and b"),
        (Terms(groups=("a", "b", "c"), two_people=True), "one person each of a, b and c"),
        (Terms(groups=("dev or ops", "b"), two_people=True), "one person each of dev or ops and b"),
        (Terms(groups=("a\u202e",)), "somebody of a\\u{202e}"),
    ],
)
def test_who_may_answer_is_said_as_the_rule_says_it(terms: Terms | None, said: str) -> None:
    assert answerable_by(terms) == said


@pytest.mark.parametrize(
    ("remember", "said"),
    [
        (None, "once"),
        (Remembering(seconds=5400), "remembered for 1h 30m for the same call"),
        (
            Remembering(seconds=None, fields=(("to",), ("items", 0)), times=3),
            "remembered for the session for the same input.to and input.items[0], "
            "whatever its other input, up to 3 times",
        ),
    ],
)
def test_what_an_answer_is_worth_is_said_in_full(remember: Remembering | None, said: str) -> None:
    assert serving_for(remember) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "0s"), (0.5, "0.5s"), (90, "1m 30s"), (5400.0, "1h 30m"), (129_600, "1d 12h")],
)
def test_no_part_of_a_span_is_left_out(seconds: float, said: str) -> None:
    assert exact_duration(seconds) == said
