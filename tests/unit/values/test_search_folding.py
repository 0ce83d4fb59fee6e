"""Texts as they are searched: in whatever spelling a value was copied."""

from __future__ import annotations

import pytest

from policy.values import folded_for_search, search_readings


@pytest.mark.parametrize(
    "spelled",
    [
        "EVIL@ATTACKER.example",
        "evil@attacker\u3002example",
        "evil@attacker\uff61example",
        "evil@attacker\uff0eexample",
        "ev\u0131l@attacker.example",
        "EV\u0130L@attacker.example",
        "evil%2525252540attacker.example",
        "evil&amp;amp;amp;#64;attacker.example",
        "evil=40attacker=2Eexample",
        "evil@atta=\r\ncker.example",
        "evil=2540attacker.example",
    ],
)
def test_a_value_is_found_however_it_is_spelled(spelled: str) -> None:
    assert folded_for_search("evil@attacker.example") in search_readings(spelled)


@pytest.mark.parametrize("text", ["?iban=DE8937&n=40", "a = b", "x=20", "id=4"])
def test_what_only_looks_like_an_escape_is_searched_as_it_stands_too(text: str) -> None:
    assert search_readings(text)[0] == text.lower().replace(" ", "")
