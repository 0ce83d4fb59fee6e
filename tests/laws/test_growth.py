"""The steps of reading an input grow in proportion to it, whatever it consists of.

Steps are counted, not time. A text of twice the size may take somewhat more than twice the steps.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.growth.families import families, repeated
from tests.growth.patterns import UsedPattern, signs_of, used_patterns
from tests.growth.readers import Read, readers
from tests.growth.regex_steps import CountedPattern, TooManySteps
from tests.growth.steps import decomposed, exchanges, steps_of

_MOST_GROWTH = 2.6
_MOST_COUNTED = 300_000
_MOST_STEPS = 30_000_000
_FEW = 4_000  # steps, that any text may take
_READERS = readers()
# Of which the growth ends at a bound that is larger than the texts here.
_BOUNDED = frozenset({"policy.programs.embedded.sql._CALL", "policy.shell.numeric_output._COUNTS"})


@pytest.fixture
def deep() -> Iterator[None]:
    """Let the slow matcher go as deep as a text is long."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def _grows_too_fast(less: int, more: int) -> bool:
    return more > _MOST_GROWTH * less + _FEW


def _fault(read: Read, size: int = 400) -> str | None:
    """Return what a reader reads too slowly."""
    for what, make in families().items():
        read(make(50))
        steps = [steps_of(read, make(size)), steps_of(read, make(2 * size))]
        if _grows_too_fast(*steps):
            # What has a bound may grow faster below it.
            steps += (steps_of(read, make(times * size)) for times in (4, 8))
            if _grows_too_fast(*steps[-2:]) or steps[1] > _MOST_STEPS:
                return f"{what}: {steps} steps"
    return None


@pytest.mark.counted
@pytest.mark.long
@pytest.mark.parametrize("what", _READERS)
def test_a_text_is_read_in_steps_in_proportion(what: str) -> None:
    assert _fault(_READERS[what]) is None


def _pattern_steps(used: UsedPattern, text: str) -> int:
    counted = CountedPattern(used.pattern, most=_MOST_COUNTED)
    try:
        if used.searched:
            counted.spans(text)
        else:
            counted.match(text)
        if used.whole:
            counted.fullmatch(text)
    except TooManySteps:
        pass
    return counted.steps


def _slow_text(used: UsedPattern) -> str | None:
    """Return a unit of which a pattern takes too many steps."""
    signs = signs_of(used.pattern)
    units = [*signs, *(one + other for one in signs for other in signs if one != other)]
    # The same ones each time.
    random.Random(used.name).shuffle(units)
    for unit in islice(units, 60):
        for before, after in (("", ""), (signs[-1], ""), ("", "\x01")):
            make = repeated(unit, before=before, after=after)
            less, more = (_pattern_steps(used, make(size)) for size in (40, 80))
            if more > _MOST_COUNTED or (more > 3 * less and more > 2_000):
                return f"{before!a}, {unit!a}, {after!a}: {less} and {more} steps"
    return None


@pytest.mark.counted
@pytest.mark.long
@pytest.mark.usefixtures("deep")
def test_regular_expressions_take_steps_in_proportion() -> None:
    patterns = [one for one in used_patterns() if one.name not in _BOUNDED]
    assert len(patterns) > 100
    slow = {one.name: found for one in patterns if (found := _slow_text(one)) is not None}
    assert slow == {}


_SLOW: dict[str, Read] = {
    "each end of a text": lambda text: sum(len(text[at:]) for at in range(len(text))),
    "each pair": lambda text: [one == other for one in text for other in text],
    "exchanging marks": lambda text: exchanges(decomposed(text, "NFD")),
}


@pytest.mark.parametrize("what", _SLOW)
def test_what_reads_too_slowly_is_found(what: str) -> None:
    assert _fault(_SLOW[what], size=200) is not None


@pytest.mark.usefixtures("deep")
@pytest.mark.parametrize(
    ("source", "searched"),
    [
        (rb'"(?:[^"\\]++|\\.)*+"|[\[{,]', True),
        (r"(a|aa)*b", False),
        (r"a*a*b", False),
        (" +$", True),
    ],
)
def test_a_pattern_that_takes_too_many_steps_is_found(source: Any, searched: bool) -> None:
    assert (
        _slow_text(UsedPattern("slow", re.compile(source), searched, whole=not searched))
        is not None
    )


_ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", r"\b", "^", "$", "(?=a)", "(?<!b)", "ab"])
_SOURCES = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.builds(lambda a, b: f"(?:{a}|{b})", inner, inner),
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(
            lambda a, n: f"({a}){n}", inner, st.sampled_from(["*", "+", "?", "*?", "{1,2}", "*+"])
        ),
        inner.map(lambda a: f"(?>{a})"),
    ),
    max_leaves=5,
)


@pytest.mark.usefixtures("deep")
@settings(max_examples=examples(1_000))
@given(_SOURCES, st.text("ab\n", max_size=8))
def test_the_slow_matcher_finds_what_regular_expressions_find(source: str, text: str) -> None:
    pattern = re.compile(source)
    found = pattern.match(text)
    counted = CountedPattern(pattern)
    assert counted.match(text) == (None if found is None else found.end())
    assert counted.fullmatch(text) == (pattern.fullmatch(text) is not None)
