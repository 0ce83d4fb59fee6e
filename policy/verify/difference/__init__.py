"""Compares two policies: which calls they decide differently, and what else changed."""

from policy.verify.difference.changes import Change, Direction
from policy.verify.difference.comparer import (
    Compared,
    compare,
    compare_statements,
    concerns_calls,
    digest_of_unknown,
)
from policy.verify.difference.difference import CallDifference, Difference, ToolDifference
from policy.verify.difference.tightening import only_tightens
from policy.verify.difference.witness import Witness

__all__ = [
    "CallDifference",
    "Change",
    "Compared",
    "Difference",
    "Direction",
    "ToolDifference",
    "Witness",
    "compare",
    "compare_statements",
    "concerns_calls",
    "digest_of_unknown",
    "only_tightens",
]
