"""Fast checks of tokens agree with the regular expressions that they replace."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policy.syntax import inline_printer, parser

PATTERNS = st.text("aZ09_*?.-/é \n", max_size=6)
HEADERS = st.builds(
    str.__add__,
    st.sampled_from(["policy", "pack", "policy for", 'pack "', "polic", "p"]),
    st.text(' \t\n:"-_9fo', max_size=5),
)


@given(PATTERNS)
def test_a_pattern_stands_without_quotes_where_the_expression_fits(pattern: str) -> None:
    fits = inline_printer._TOOL_PATTERN.match(pattern) is not None
    assert inline_printer._is_plain(pattern) is fits


@given(HEADERS)
def test_a_header_begins_as_the_expression_says(text: str) -> None:
    assert parser._is_header(text) is (parser._HEADER.match(text) is not None)
