"""The grammar is unambiguous, and complete enough for the reference."""

from __future__ import annotations

from policy.model import Source
from policy.syntax import lark_engine, parse


def test_the_grammar_has_no_conflict_and_no_two_terminals_in_one_place() -> None:
    lark = lark_engine.build(None, strict=True)
    assert {rule.origin.name for rule in lark.rules} >= {"header", "statement"}


def test_every_word_ends_where_a_longer_one_goes_on() -> None:
    text = "policy for every agent\n\nallow whenever, mcp_x, after.all, denying\n"
    assert parse(Source(name="a.policy", text=text)).diagnostics == ()
