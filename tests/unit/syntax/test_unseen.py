"""Invisible characters in policy text are found, and plain text is recognised quickly."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from policy.syntax import statement_splitter

ODD = "\t\n\r\x00\x0b\x1f\x7f\x85\u200e\u2028\u202e\u2066\ufeff é"


@given(st.text(st.sampled_from(ODD) | st.characters(max_codepoint=0x7F), max_size=8))
@example("deny *\n")
@example("deny *\r\n")
def test_what_would_not_be_seen_is_found_in_any_text(text: str) -> None:
    searched = [found.start() for found in re.finditer(statement_splitter._UNSEEN, text)]
    assert statement_splitter.invisible_characters(text) == searched
