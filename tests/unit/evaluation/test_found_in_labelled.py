"""The work of looking for values in labelled texts is bounded."""

from __future__ import annotations

from policy.evaluation.found_in_labelled import LabelledTexts
from policy.evaluation.truth import Indeterminate

_VALUES = [f"value <{number}>" for number in range(101)]


def _texts(text: str) -> LabelledTexts:
    texts = LabelledTexts([])
    texts._sure.add(0, text)
    return texts


def test_many_values_in_long_texts_are_indeterminate() -> None:
    found = _texts("x" * 1_000_000).has(_VALUES, 1)
    assert isinstance(found, Indeterminate)
    assert "too many values" in found.why


def test_many_values_in_short_texts_and_one_in_a_long_text_are_looked_for() -> None:
    short, long = _texts("x" * 10_000 + _VALUES[100]), _texts("x" * 10_000_000 + _VALUES[0])
    assert short.has(_VALUES, 1) is True
    assert short.has(_VALUES[:100], 1) is False
    assert long.has(_VALUES[:1], 1) is True
    assert long.has(_VALUES[1:2], 1) is False
