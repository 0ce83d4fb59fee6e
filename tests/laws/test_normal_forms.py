"""Texts of long runs of marks are normalised as Unicode has it, and with work in proportion."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from typing import get_args
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.evaluation import Indeterminate, equal
from policy.values import (
    compare_text,
    is_ordinary,
    normal_form,
    normalise,
    shown_text,
    takes_long,
    without_invisible,
)
from policy.values import text as text_module
from policy.values.text import _RUN, Form
from tests.examples import examples
from tests.growth.steps import exchanges

_FORMS: tuple[Form, ...] = get_args(Form)
# Marks of several classes, vowel signs that decompose into marks, letters that become marks, and
# what composes with a letter without being a mark.
_PIECES = st.sampled_from(
    [
        *("\u0301", "\u0316", "\u0334", "\u0345", "\u05b0", "\u0f71", "\u0f73", "\u0344", "\u3099"),
        *("\uff9e", "\u1100", "\u1161", "\u11a8", "\u09c7", "\u09be", "\u0dd9", "\u0dca", "\u0dcf"),
        *("a", "é", "\u1e09", "\u2014", "\u034f", "\u200d", "か", "\ufdfa", "\ufc5e", " ", "Å"),
    ]
)
_STRETCHES = st.lists(st.tuples(_PIECES, _PIECES, st.integers(1, 40)), max_size=4)
_TEXTS = _STRETCHES.map(lambda found: "".join((one + other) * n for one, other, n in found))


@settings(max_examples=examples(2_000))
@given(_TEXTS, st.sampled_from(_FORMS))
def test_a_normal_form_is_that_of_unicode(text: str, form: Form) -> None:
    assert normal_form(text, form) == unicodedata.normalize(form, text)


@settings(max_examples=examples(500))
@given(_TEXTS)
def test_a_text_is_shown_in_its_normal_form_without_invisible_characters(text: str) -> None:
    shown = shown_text(text)
    assert without_invisible(text) == (text if shown is None else shown.text)


def test_every_character_that_may_begin_with_a_mark_is_taken_for_one() -> None:
    marks = [
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if any(unicodedata.combining(unicodedata.normalize(form, char)[0]) for form in _FORMS)
    ]
    assert len(marks) > 800
    assert [char for char in marks if not _RUN.fullmatch(char * 9)] == []


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("unit", ["\u0301\u0316", "a\u0301", "\u0f73\u0f71", "\u0301\uff9e"])
def test_marks_are_in_order_before_they_are_normalised(unit: str, form: Form) -> None:
    handed: list[str] = []
    with patch.object(text_module, "unicodedata", _Watched(handed)):
        normal_form(unit * 20_000, form)
    assert sum(map(exchanges, handed)) < 32 * 20_000 * len(unit)


@pytest.mark.parametrize("form", _FORMS)
def test_a_long_run_of_marks_is_copied_once(form: Form) -> None:
    copied: list[int] = []
    text = "a" + "\u0301\u0316" * 20_000
    with patch.object(text_module, "_RUN", _CountedRuns(copied)):
        normal_form(text, form)
    assert 0 < sum(copied) <= len(text)


@settings(max_examples=examples(500))
@given(_TEXTS)
def test_an_ordinary_text_is_in_nfc_and_shows_everything(text: str) -> None:
    expected = unicodedata.normalize("NFC", text) == text == without_invisible(text)
    assert is_ordinary(text) == expected
    assert without_invisible(normalise(text)) == without_invisible(text)


_HEAVY = {
    "marks": "a" + "\u0323\u0301" * 15_000,
    "marks of many letters": ("a" + "\u0301\u0323" * 8) * 2_000,
    "hidden characters": "fo\u200b" * 170_000,
}
_LIGHT = {
    "letters of Han": "漢字" * 300_000,
    "accents": "a\u0301" * 100_000,
    "a table": "─" * 600_000,
    "few marks": "a" + "\u0301\u0323" * 5_000,
}


@pytest.mark.parametrize("text", _HEAVY.values(), ids=_HEAVY)
def test_a_text_that_takes_long_to_normalise_is_not_compared(text: str) -> None:
    handed: list[str] = []
    with patch.object(text_module, "unicodedata", _Watched(handed)):
        assert compare_text(lambda found: "x" in found, text) is None
        assert isinstance(equal(text, "x" + text), Indeterminate)
    assert handed == []


@pytest.mark.parametrize("text", [*_LIGHT.values(), "❤️ ok " * 50_000], ids=[*_LIGHT, "emoji"])
def test_a_long_text_of_people_is_searched(text: str) -> None:
    assert compare_text(lambda found: "x" in found, text) is False
    assert compare_text(lambda found: "x" in found, text + "x") is True


@pytest.mark.parametrize("text", _LIGHT.values(), ids=_LIGHT)
def test_a_long_text_of_people_is_compared(text: str) -> None:
    assert equal(text, text) is True
    assert equal(text, text + "x") is False


def test_what_stands_for_many_characters_takes_long_in_a_compatible_form() -> None:
    handed: list[str] = []
    with patch.object(text_module, "unicodedata", _Watched(handed)):
        assert takes_long("\ufdfa" * 30_000, "NFKC")
    assert sum(map(len, handed)) < 100
    assert not takes_long("\ufdfa" * 30_000)
    assert not takes_long("漢字①ﬁ" * 30_000, "NFKC")


class _CountedRuns:
    """The pattern of runs; notes how many characters are copied out of what it finds."""

    def __init__(self, copied: list[int]) -> None:
        self._copied = copied

    def sub(self, replaced: Callable[[_CountedRun], str], text: str) -> str:
        """Replace runs in a text."""
        return _RUN.sub(lambda run: replaced(_CountedRun(run[0], self._copied)), text)


class _CountedRun:
    def __init__(self, text: str, copied: list[int]) -> None:
        self._text = text
        self._copied = copied

    def __getitem__(self, group: int) -> str:
        self._copied.append(len(self._text))
        return self._text


class _Watched:
    """`unicodedata`, which notes the texts that it normalises."""

    combining = staticmethod(unicodedata.combining)
    is_normalized = staticmethod(unicodedata.is_normalized)

    def __init__(self, handed: list[str]) -> None:
        self._handed = handed

    def normalize(self, form: Form, text: str) -> str:
        """Note the text with each character decomposed, in which marks are put in order."""
        apart: Form = "NFKD" if "K" in form else "NFD"
        self._handed.append("".join(unicodedata.normalize(apart, char) for char in text))
        return unicodedata.normalize(form, text)
