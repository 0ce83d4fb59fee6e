"""A pile of texts, held against a search of each text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.evaluation.text_pile import TextPile

_LARGE = "y" * 200_000
_SEVERAL = "ab" * 2_000
_TEXTS = ("", "ab", "ba", "aab", _SEVERAL, _LARGE)


@given(
    st.lists(
        st.tuples(st.sampled_from(("", "ab", "ba", "aab", _SEVERAL, _LARGE)), st.booleans()),
        max_size=8,
    ),
    st.sampled_from(
        ("a", "ab", "ba", "abba", "yy", "c", "ab" * 60, "ab" * 60 + "a", "ab" * 60 + "b")
    ),
    st.integers(0, 9),
)
def test_a_pile_finds_the_first_text_with_a_part(
    texts: list[tuple[str, bool]], wanted: str, length: int
) -> None:
    pile = TextPile()
    for position, (text, searched) in enumerate(texts):
        pile.add(position, text)
        if searched:
            pile.find("z", position)
    expected = next(
        (at for at, (text, _) in enumerate(texts) if wanted in text and at < length), None
    )
    assert pile.find(wanted, length) == expected


class _Searched(str):
    """A text that notes how it is searched: its length, and that of what is searched for."""

    searches: list[tuple[int, int]]

    def find(self, wanted: str) -> int:  # type: ignore[override]
        self.searches.append((len(self), len(wanted)))
        return super().find(wanted)

    def ljust(self, width: int, fill: str = " ") -> str:  # type: ignore[override]
        longer = _Searched(super().ljust(width, fill))
        longer.searches = self.searches
        return longer


@pytest.mark.parametrize("length", [1, 10, 99, 1_200])
@pytest.mark.parametrize("size", [10, 300, 2_400, 29_000, 31_000])
def test_a_text_is_searched_in_as_many_steps_as_it_has_characters(
    size: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pile = TextPile()
    pile.add(0, "a" * size)
    (chunk,) = pile._chunks
    text = _Searched(chunk.joined())
    text.searches = []
    monkeypatch.setattr(type(chunk), "joined", lambda _: text)
    pile.find("a" * (length // 2) + "b" + "a" * (length // 2), 1)
    ((searched, wanted),) = text.searches
    # From 30,000 characters on, Python does not compare again what it has compared.
    assert searched >= 30_000 or searched * wanted <= 15 * (size + 3_000)
    assert pile.steps("a" * length) <= size + 3_001
