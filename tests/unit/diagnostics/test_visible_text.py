"""Untrusted text as it is displayed: nothing hidden, and cuts marked."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from policy.diagnostics import visible


def test_plain_text_stays_as_it_is() -> None:
    assert visible("allow file_read, Größe 漢字 →") == "allow file_read, Größe 漢字 →"


def test_what_hides_or_reorders_is_spelled_out() -> None:
    assert visible("a\u202eb\u200bc\x00d\te") == "a\\u{202e}b\\u{200b}c\\u{0}d\\u{9}e"
    assert visible("\u3164\U000e0061\ufe0f") == "\\u{3164}\\u{e0061}\\u{fe0f}"


def test_a_cut_is_marked() -> None:
    assert visible("abcdef", 3) == "abc…[+3]"
    assert visible("abc", 3) == "abc"
    assert visible("\n\n", 5) == "\\u{a}…[+1]"


@given(st.text())
def test_nothing_that_hides_or_steers_is_left(text: str) -> None:
    kinds = {unicodedata.category(char) for char in visible(text)}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
