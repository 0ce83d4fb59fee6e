"""Checked policies -> one layered policy: which layers bind a caller, and what they do together."""

from policy.layers.layered import LayeredPolicy, applies_to
from policy.layers.merger import Merged, merge

__all__ = [
    "LayeredPolicy",
    "Merged",
    "applies_to",
    "merge",
]
