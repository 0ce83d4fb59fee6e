"""Verdicts form a chain, and everything combines by maximum on it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """`none < allow < ask < deny`; `NONE` is no opinion, and never what a decision ends in."""

    NONE = "none"
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def rank(self) -> int:
        """The place in the chain, from 0 for `none` to 3 for `deny`."""
        return _RANK[self]


_RANK = {Verdict.NONE: 0, Verdict.ALLOW: 1, Verdict.ASK: 2, Verdict.DENY: 3}


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the maximum of `verdicts` on the chain; `NONE` when there are none."""
    return max(verdicts, key=_RANK.__getitem__, default=Verdict.NONE)
