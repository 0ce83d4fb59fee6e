"""Text is compared in NFC, and displayed with nothing hidden."""

from __future__ import annotations

import pytest

from policy.values import (
    compare_text,
    escape_for_display,
    is_ordinary,
    normalise,
    quote,
    without_invisible,
)


def test_composed_and_decomposed_text_compare_equal() -> None:
    assert normalise("cafe\u0301") == "café"
    assert compare_text(lambda text: text == "café", "cafe\u0301") is True


@pytest.mark.parametrize("mark", ["\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\U000e0041"])
def test_an_invisible_character_that_matters_makes_a_test_undecidable(mark: str) -> None:
    assert not is_ordinary(f"a{mark}b")
    assert without_invisible(f"a{mark}b") == "ab"
    assert compare_text(lambda text: text == "ab", f"a{mark}b") is None
    assert compare_text(lambda text: text == "other", f"a{mark}b") is False
    assert compare_text(lambda text: text.startswith("a"), f"a{mark}b") is True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢", "plain é 漢"),
        ("a\nb\x1b[31m", "a\\u{a}b\\u{1b}[31m"),
        ("a\u202eb\u200b", "a\\u{202e}b\\u{200b}"),
        ("\ud800", "\\u{d800}"),
        ("", ""),
    ],
)
def test_what_is_hidden_is_escaped(text: str, shown: str) -> None:
    assert escape_for_display(text, 100) == shown


def test_a_cut_is_marked_with_what_is_missing() -> None:
    assert escape_for_display("abcdef", 4) == "abcd…[+2]"
    assert escape_for_display("abcd", 4) == "abcd"
    # An escape is never cut in two.
    assert escape_for_display("abc\u202e", 5) == "abc…[+1]"
    assert escape_for_display("x" * 1_000_000, 3) == "xxx…[+999997]"


def test_a_reason_quotes_at_most_forty_characters() -> None:
    assert quote("\x00" * 100) == "`" + "\\u{0}" * 8 + "…[+92]`"
