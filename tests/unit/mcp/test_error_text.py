"""The words of a server's error can be redacted: they are whole, or they are not shown."""

from __future__ import annotations

import pytest
from mcp import MCPError

from policy.mcp.error_text import text_of

_SECRET = "SK-" + "a" * 40


@pytest.mark.parametrize("rest", [0, 3_000, 30_000])
def test_no_part_of_what_a_server_says_is_shown_without_the_rest(rest: int) -> None:
    places = (*range(200, 400, 7), *range(900, 1_100, 7), *range(19_900, 20_100, 7))
    said = ["q" * place + _SECRET + "z" * rest for place in places]
    shown = [text_of(MCPError(code=-32000, message=text)) for text in said]
    assert [text for text in shown if "SK-" in text and _SECRET not in text] == []
    assert sum(_SECRET in text for text in shown) == sum(len(text) <= 20_000 for text in said)
    assert all(text.startswith("the server answered with an error") for text in shown)
