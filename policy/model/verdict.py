"""Verdicts, ordered from weakest to strictest; verdicts combine by taking the strictest."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """`none < allow < ask < deny`; `NONE` means no opinion and is never a decision's verdict."""

    NONE = "none"
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def rank(self) -> int:
        """The position in the order, from 0 for `none` to 3 for `deny`."""
        return _RANK[self]


_RANK = {Verdict.NONE: 0, Verdict.ALLOW: 1, Verdict.ASK: 2, Verdict.DENY: 3}


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the strictest of `verdicts`; `NONE` when there are none."""
    return max(verdicts, key=_RANK.__getitem__, default=Verdict.NONE)
