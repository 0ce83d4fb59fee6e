"""Verdicts: their order, and the strictest of several."""

from __future__ import annotations

from itertools import pairwise, product

from policy.model import Verdict, strictest

CHAIN = (Verdict.NONE, Verdict.ALLOW, Verdict.ASK, Verdict.DENY)


def test_the_chain_goes_from_no_opinion_to_deny() -> None:
    assert all(lower.rank < higher.rank for lower, higher in pairwise(CHAIN))


def test_the_strictest_of_any_three_is_the_highest_on_the_chain() -> None:
    for verdicts in product(CHAIN, repeat=3):
        assert CHAIN.index(strictest(verdicts)) == max(map(CHAIN.index, verdicts))


def test_without_an_opinion_there_is_none() -> None:
    assert strictest([]) is Verdict.NONE


def test_a_verdict_is_the_word_that_programs_read() -> None:
    assert [str(verdict) for verdict in CHAIN] == ["none", "allow", "ask", "deny"]
    assert Verdict("deny") is Verdict.DENY
