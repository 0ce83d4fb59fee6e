"""A pile of texts, held against a search of each text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policy.evaluation.text_pile import TextPile

_LARGE = "y" * 200_000


@given(
    st.lists(
        st.tuples(st.sampled_from(("", "ab", "ba", "aab", _LARGE)), st.booleans()), max_size=8
    ),
    st.sampled_from(("a", "ab", "ba", "abba", "yy", "c")),
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
