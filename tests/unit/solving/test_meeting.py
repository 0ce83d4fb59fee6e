"""Strings in some languages and not in others, against trying all short ones."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.solving import (
    ALL,
    ANY_TEXT,
    Edge,
    Either,
    Expression,
    Language,
    OneOf,
    OutOfSteps,
    Row,
    Steps,
    Times,
    TooLarge,
    contains,
    language,
    literal,
    meeting,
    these,
    union,
    without,
)

LONGEST = 4
TEXTS = ["".join(chars) for n in range(LONGEST + 1) for chars in product("ab ", repeat=n)]
CHARS = st.sampled_from((these("a"), these("b"), these("ab"), without(these("a")), ALL))
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    st.builds(OneOf, CHARS) | st.builds(Edge, st.sampled_from(("start", "end", "word", "no word"))),
    lambda inner: st.one_of(
        st.builds(Row, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Either, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Times, inner, st.integers(0, 1), st.none() | st.integers(1, 2)),
    ),
    max_leaves=5,
)
SETS = st.lists(EXPRESSIONS, min_size=1, max_size=3).map(lambda each: list(map(language, each)))


@given(SETS, SETS)
def test_the_shortest_string_is_found_exactly_if_there_is_one(
    inside: list[Language], outside: list[Language]
) -> None:
    fitting = [
        text
        for text in TEXTS
        if all(contains(one, text) for one in inside)
        and not any(contains(one, text) for one in outside)
    ]
    found = meeting(inside, outside, within=these("ab "), steps=Steps(100_000))
    if fitting:
        assert found.text is not None
        assert len(found.text) == len(fitting[0])
    if found.text is None:
        needed = [outside[at] for at in found.outside]
        alone = meeting(inside, needed, within=these("ab "), steps=Steps(100_000))
        assert alone.text is None
    else:
        assert all(contains(one, found.text) for one in inside)
        assert not any(contains(one, found.text) for one in outside)


def test_a_string_is_made_of_the_characters_that_it_may_have() -> None:
    lines = language(Row((ANY_TEXT, literal("\n"), ANY_TEXT)))
    assert meeting([lines], [], steps=Steps(100)).text == "\n"
    assert meeting([lines], [], within=these("ab"), steps=Steps(100)).text is None
    assert meeting([language(Times(OneOf(ALL), 3, 3))], [], steps=Steps(100)).text == "aaa"


def _n_before_the_end(n: int) -> Language:
    return language(Row((ANY_TEXT, literal("a"), Times(OneOf(ALL), n, n))))


def test_a_question_that_takes_too_many_steps_is_given_up() -> None:
    # The automata of these have 2 to the power of n states when they are made deterministic.
    one, other = _n_before_the_end(5), _n_before_the_end(6)
    with pytest.raises(OutOfSteps):
        meeting([one, other], [], steps=Steps(5))
    used = []
    for _ in range(2):
        steps = Steps(10_000)
        meeting([one, other], [], steps=steps)
        used.append(steps.left)
    assert used[0] == used[1]


@given(SETS)
def test_a_union_has_what_one_of_its_languages_has(languages: list[Language]) -> None:
    together = union(languages)
    for text in TEXTS:
        assert contains(together, text) == any(contains(one, text) for one in languages)


def test_an_expression_with_too_many_positions_is_refused() -> None:
    with pytest.raises(TooLarge):
        language(Times(Times(OneOf(ALL), 1000, 1000), 1000, 1000))
    with pytest.raises(TooLarge):
        union([language(Times(OneOf(ALL), 1500, 1500))] * 3)
