"""The terminals that may follow are those that Lark accepts, found without copying its values."""

from __future__ import annotations

import pytest
from lark import UnexpectedInput

from policy.model import Source
from policy.syntax.accepted_terminals import accepted_terminals
from policy.syntax.builder import NodeBuilder
from policy.syntax.grammar import Start
from policy.syntax.lark_engine import read
from policy.syntax.mistakes import MISTAKES

EXAMPLES = [
    text
    for text in (mistake.example.replace("«", "").replace("»", "") for mistake in MISTAKES)
    if not text.startswith("policy")
]


def error_of(text: str, start_rule: Start = "statement") -> UnexpectedInput:
    found = read(
        NodeBuilder(Source(name="a.policy", text=text), 0, len(text)), text, start_rule=start_rule
    )
    assert isinstance(found, UnexpectedInput), text
    return found


@pytest.mark.parametrize("text", EXAMPLES)
def test_they_are_those_that_lark_accepts(text: str) -> None:
    error = error_of(text)
    assert accepted_terminals(error) == error.interactive_parser.accepts()  # type: ignore[no-untyped-call]


def test_a_header_may_be_complete() -> None:
    assert accepted_terminals(error_of("policy for every agent x", "header")) == {"$END"}
