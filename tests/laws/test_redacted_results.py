"""Redacting a result: as the reference does it, once and for all, whatever the order of rules."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from policy.program import ResultRedactor, ResultWithheld
from policy.values import Redaction, Regex, compile_regex, shown_text, without_invisible
from tests.reference_results import Wanted, Withheld, redacted_text, redacted_value

_PATTERNS = ("ab", "b+", "a.?c", "[0-9]{2}", "(?i)key", "^a", "c$", r"\bx")
_REPLACEMENTS = ("[redacted]", "", "*", "[key]", "ab", "12")

texts = st.text(alphabet="abcx12 K", max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 9_999) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
rules = st.lists(
    st.tuples(st.sampled_from(_PATTERNS), st.sampled_from(_REPLACEMENTS)), min_size=1, max_size=3
)


def redactor(wanted: list[Wanted]) -> ResultRedactor:
    redactions: list[Redaction] = []
    for place, (pattern, replacement) in enumerate(wanted):
        regex = compile_regex(pattern)
        assert isinstance(regex, Regex)
        redactions.append(Redaction(regex=regex, replacement=replacement, rule=f"r{place}"))
    return ResultRedactor(redactions)


def redacted(value: Any, wanted: list[Wanted]) -> Any:
    """Return the redacted value, or the exception if it is withheld."""
    try:
        return redactor(wanted).value(value)
    except ResultWithheld:
        return Withheld


@given(values, rules)
def test_results_are_redacted_as_the_reference_does_it(value: Any, wanted: list[Wanted]) -> None:
    try:
        expected = redacted_value(value, wanted)
    except Withheld:
        expected = Withheld
    assert redacted(value, wanted) == expected


# Invisible characters, and letters that NFC replaces or composes: the Kelvin and Angstrom signs.
_ODD = "\u212a\u212b\u0301\u0323\u200b\ufeff\u00ad\u1100\u1161"
disguised = st.text(alphabet=f"abc1k{_ODD}", max_size=9)


@given(disguised, rules)
def test_a_secret_is_found_however_it_is_spelled(text: str, wanted: list[Wanted]) -> None:
    """What is left shows no match either, unless it is withheld."""
    left = redacted(text, wanted)
    assume(left is not Withheld)
    shown = without_invisible(left)
    assert isinstance(shown, str)
    assert shown == left or redacted(shown, wanted) == shown
    for pattern, _ in wanted:
        if left == text:
            assert not any(match[0] for match in re.finditer(pattern, without_invisible(text)))


@given(disguised)
def test_each_shown_character_comes_from_its_place_in_the_text(text: str) -> None:
    shown = shown_text(text)
    if shown is None:
        assert without_invisible(text) == text
        return
    assert shown.text == without_invisible(text)
    for place in range(len(shown.text)):
        start, end = shown.original(place, place + 1)
        assert shown.text[place] in without_invisible(text[start:end])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a key AK\u212aX12 b", "a [redacted] b"),
        ("key A\u200bK\u00adKX\ufeff12.", "[redacted]."),
        ("\u200bkey AKKX12\u200b", "\u200b[redacted]\u200b"),
        ("key AKKX12 cafe\u0301", "[redacted] cafe\u0301"),
        ("cafe\u0301", "cafe\u0301"),
    ],
)
def test_a_key_in_another_spelling_is_redacted(text: str, left: str) -> None:
    assert redacted(text, [("key AKKX12", "[redacted]")]) == left


@given(values, rules)
def test_redacting_twice_changes_nothing(value: Any, wanted: list[Wanted]) -> None:
    once = redacted(value, wanted)
    assume(once is not Withheld)
    assert redacted(once, wanted) == once


@given(values, rules, st.randoms())
def test_the_order_of_rules_does_not_matter(value: Any, wanted: list[Wanted], random: Any) -> None:
    shuffled = list(wanted)
    random.shuffle(shuffled)
    assert redacted(value, shuffled) == redacted(value, wanted)


@given(values, rules)
def test_what_nothing_matches_stays_the_very_same(value: Any, wanted: list[Wanted]) -> None:
    used = redactor(wanted)
    try:
        same = used.value(value) is value
    except ResultWithheld:
        return
    assert same == (not any(used.places.values()))


@given(texts, rules)
def test_a_redacted_text_matches_only_by_its_replacements(text: str, wanted: list[Wanted]) -> None:
    """What is left of the text has no match that a redaction would change."""
    once = redacted(text, wanted)
    assume(once is not Withheld)
    assert redacted_text(once, wanted) == once
