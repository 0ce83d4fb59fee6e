"""Identifiers: however they are grouped, they have a canonical form in common."""

from __future__ import annotations

from itertools import zip_longest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.values import identifier_forms
from tests.examples import examples

_GROUPING = " -./()_,:;'\u00a0\u2009\u2011\u200b"
_LETTERS = st.text("abcXYZäß0123456789", min_size=1, max_size=30)
_SEPARATORS = st.lists(st.text(_GROUPING, max_size=3), max_size=31)


@settings(max_examples=examples(300))
@given(_LETTERS, _SEPARATORS)
def test_grouping_never_takes_a_value_to_another_budget(text: str, between: list[str]) -> None:
    grouped = "".join(gap + char for gap, char in zip_longest(between, text, fillvalue=""))
    assert set(identifier_forms(text)) & set(identifier_forms(grouped)), grouped
    assert set(identifier_forms(text)) & set(identifier_forms(grouped.swapcase())), grouped


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GB29NWBK60161331926819", "GB29NWBK60161331926818"),
        ("iban", ""),
        ("iban12", "12"),
        ("tel", ""),
        ("10.1.11.1", "10.11.1.1"),
        ("::1", "::2"),
        ("?", "!"),
        ("room 12", "table 12"),
        ("\u0915\u093f", "\u0915\u093e"),
        ("Иванов", "Иванова"),
        ("pay 12345678 now", "pay 12345679 now"),
    ],
)
def test_what_is_two_values_has_no_form_in_common(one: str, other: str) -> None:
    assert not set(identifier_forms(one)) & set(identifier_forms(other))


@pytest.mark.parametrize(
    "spelled",
    [
        "DE89370400440532013000\u0301",
        "\u0301DE\u030189370400440532013000",
        "tel:DE89370400440532013000",
        "IBAN IBAN DE89370400440532013000",
        "iban no. DE89 3704 0044 0532 0130 00",
        "acct DE89370400440532013000",
        "acctDE89370400440532013000",
        "DE89370400440532013000 (Ada), please",
        '{"iban": "DE89370400440532013000"}',
        "D\u041589370400440532013000",
        "D\u04358937\u0301 0400440532013000",
        "DE89370400440532013000.0",
        "iban DE89370400440532013000,00",
        "ＤＥ89370400440532013000",
    ],
)
def test_what_stands_around_an_account_or_looks_like_it_gives_no_other_budget(spelled: str) -> None:
    assert set(identifier_forms("DE89370400440532013000")) & set(identifier_forms(spelled))


def test_a_capital_is_read_as_what_it_looks_like_or_as_its_small_letter_does() -> None:
    own = set(identifier_forms("LI29NWBK60161331926819"))
    assert own & set(identifier_forms("LI29\u039dWBK60161331926819"))
    assert own & set(identifier_forms("L\u040629NWBK60161331926819"))
    assert not own & set(identifier_forms("LI29N\u0428BK60161331926819"))


def test_one_value_has_one_form_unless_it_may_be_a_number_too() -> None:
    assert identifier_forms("IBAN GB29 NWBK 6016 1331 9268 19") == ("gb29nwbk60161331926819",)
    assert identifier_forms("0012 34") == ("1234",)
    assert identifier_forms("12.50") == ("12.5", "1250")
