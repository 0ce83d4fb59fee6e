"""Combining rewrites: their order does not matter, and redactions are united."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.evaluation import Evaluation
from policy.model import thaw
from policy.program import Conflict, Wanted, apply_changes
from tests.unit.program.compiling import ANN, HERE, ask, program, tools


def wanted(body: str, input: dict[str, object]) -> list[Wanted]:
    """Return every change that the rewrites of a body want of `t`, matching or not."""
    asked = program(f"default allow\n{body}")
    spec = tools().get("t")
    assert spec is not None
    call = Evaluation(spec, input, caller=ANN, facts=HERE, slots=asked.slots)
    rewrites = asked.plan(spec, agent="ann", role="owner").layers[0].rewrites
    return [(wish, call) for rewrite in rewrites for wish in rewrite.wishes]


BODIES = (
    "a: rewrite t set input.x = at most 60\nb: rewrite t set input.x = at most 30\n"
    "c: rewrite t set input.x = at least 5",
    "a: rewrite t set input.x = 1\nb: rewrite t when input.z == 1 set input.x = 2",
    "a: rewrite t remove input.x\nb: rewrite t set input.y = 2 if absent",
    "a: rewrite t set input.y.a = 1\nb: rewrite t set input.y.b = 2\n"
    "c: rewrite t set input.x = at least 9",
    "a: rewrite t when input.z == 1 set input.y = {}\nb: rewrite t set input.y.b = 2",
    "a: rewrite t when input.z == 1 remove input.x\nb: rewrite t set input.x = at most 2",
)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("x", [None, 0, 7, 100, "text"])
def test_the_order_of_changes_means_nothing(body: str, x: object) -> None:
    input: dict[str, object] = {"z": 1} if x is None else {"x": x, "z": 1}
    wishes = wanted(body, input)
    outcomes = [apply_changes(input, order) for order in permutations(wishes)]
    told = [found.why if isinstance(found, Conflict) else thaw(found) for found in outcomes]
    assert all(one == told[0] for one in told)


def test_a_conflict_names_every_rule_that_wants_it() -> None:
    input: dict[str, object] = {"x": "o", "z": 1}
    found = apply_changes(input, wanted(BODIES[1], input))
    assert isinstance(found, Conflict)
    assert found.rules == ("a", "b")


def test_a_field_of_a_list_is_changed_in_its_place() -> None:
    asked = program("default allow\na: rewrite t set input.x[1].y = 5\n")
    becoming = ask(asked, "t", {"x": [{}, {"y": 1, "z": 2}]}).decision
    assert thaw(becoming.call.input) == {"x": [{}, {"y": 5, "z": 2}]}
    beyond = ask(asked, "t", {"x": [{}]}).decision
    assert beyond.verdict == "deny"


def test_places_of_a_list_are_not_removed() -> None:
    asked = program("default allow\na: rewrite t remove input.x[0]\n")
    assert ask(asked, "t", {"x": [1, 2]}).decision.verdict == "deny"


def test_the_original_call_is_kept_beside_the_rewritten_one() -> None:
    asked = program("default allow\na: rewrite t set input.x = 2")
    decision = ask(asked, "t", {"x": 1}).decision
    assert decision.rewritten
    assert (decision.asked.input["x"], decision.call.input["x"]) == (1, 2)
    assert not ask(asked, "t", {"x": 2}).decision.rewritten


# ------------------------------------------------------------------ redaction

WORDS = ("ab", "ba", "aba", "bb", "c")


def matches(word: str, text: str) -> list[tuple[int, int]]:
    """Return the matches of a literal word, from left to right, none overlapping another."""
    found: list[tuple[int, int]] = []
    place = text.find(word)
    while place >= 0:
        found.append((place, place + len(word)))
        place = text.find(word, place + len(word))
    return found


def redacted(text: str, words: dict[str, str]) -> str:
    """Redact by hand: overlapping matches form one stretch, whose replacement must agree."""
    spans = [(s, e, new) for word, new in words.items() for s, e in matches(word, text)]
    out, place = "", 0
    while place < len(text):
        group = {span for span in spans if span[0] == place}
        if not group:
            out += text[place]
            place += 1
            continue
        end = place + 1
        while True:
            group = {span for span in spans if place <= span[0] < end}
            reach = max(span[1] for span in group)
            if reach == end:
                break
            end = reach
        news = {span[2] for span in group}
        out += news.pop() if len(news) == 1 else "[redacted]"
        place = end
    return out


@given(
    text=st.text(alphabet="abc", max_size=12),
    words=st.dictionaries(st.sampled_from(WORDS), st.sampled_from(["1", "2", ""]), min_size=1),
    seed=st.integers(0, 10),
)
def test_redactions_of_one_field_are_united(text: str, words: dict[str, str], seed: int) -> None:
    body = "\n".join(
        f'r{i}: rewrite t redact input.x matching /{word}/ with "{new}"'
        for i, (word, new) in enumerate(words.items())
    )
    input: dict[str, object] = {"x": text}
    wishes = wanted(body, input)
    Random(seed).shuffle(wishes)
    found = apply_changes(input, wishes)
    assert not isinstance(found, Conflict)
    assert found["x"] == redacted(text, words)
