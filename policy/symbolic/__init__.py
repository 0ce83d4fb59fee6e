"""Rules as Boolean formulas: which calls break a claim, of all calls or of some that are shown."""

from policy.symbolic.all_calls import AllCalls
from policy.symbolic.leaves import leaves_of
from policy.symbolic.set_relations import includes
from policy.symbolic.shown_calls import ShownCalls
from policy.symbolic.situation import Situation, Values
from policy.symbolic.subjects import RESOURCES, Subject
from policy.symbolic.violation import Basis, Claim, Violation, require_violation

__all__ = [
    "RESOURCES",
    "AllCalls",
    "Basis",
    "Claim",
    "ShownCalls",
    "Situation",
    "Subject",
    "Values",
    "Violation",
    "includes",
    "leaves_of",
    "require_violation",
]
