"""Checked policies -> one layered policy: which layers apply to a caller, and how they combine."""

from policy.layers.edited_limits import limits_counting_anew
from policy.layers.layered import LayeredPolicy, applies_to
from policy.layers.merger import Merged, merge

__all__ = [
    "LayeredPolicy",
    "Merged",
    "applies_to",
    "limits_counting_anew",
    "merge",
]
