"""Functions that take a text apart are indeterminate for one that would take long."""

from __future__ import annotations

import pytest

from policy.evaluation.functions import FUNCTIONS
from policy.evaluation.truth import Indeterminate

_LINK = "https://a.example/ "


@pytest.mark.parametrize(("function", "more"), [("words", (3,)), ("links", ())])
def test_the_bound_is_of_characters(function: str, more: tuple[int, ...]) -> None:
    find, most = FUNCTIONS[function], {"words": 500_000, "links": 250_000}[function]
    short = _LINK + " " * (most - len(_LINK))
    assert find(short, *more) == (
        ("https://a.example/",) if function == "links" else find(_LINK, 3)
    )
    found = find(f"{short} ", *more)
    assert isinstance(found, Indeterminate) and f"{most:,}" in found.why


def test_texts_of_a_list_count_together() -> None:
    assert FUNCTIONS["links"]((_LINK, _LINK)) == ("https://a.example/",) * 2
    assert isinstance(FUNCTIONS["links"]((" " * 200_000, " " * 200_000)), Indeterminate)
