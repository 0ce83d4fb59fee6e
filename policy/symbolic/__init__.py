"""Rules as Boolean formulas: which calls break a claim, of all calls or of some that are shown."""

from policy.symbolic.all_calls import AllCalls
from policy.symbolic.any_tool import AnyTool, any_tool
from policy.symbolic.command_relations import CommandSet, command_set
from policy.symbolic.known_truths import KnownTruths
from policy.symbolic.leaves import leaves_of
from policy.symbolic.open_conditions import (
    OpenCondition,
    WhyOpen,
    open_conditions,
    open_conditions_of_rule,
)
from policy.symbolic.reading import Reading
from policy.symbolic.rewritten_input import tests_of_changes
from policy.symbolic.set_relations import includes
from policy.symbolic.shown_calls import ShownCalls
from policy.symbolic.situation import (
    Situation,
    Values,
    accepted_input,
    demands_too_much,
    has_accepted_input,
)
from policy.symbolic.subjects import RESOURCES, Subject
from policy.symbolic.truths import Truths, unknown
from policy.symbolic.verdicts import (
    AnyPlan,
    RuleReader,
    VerdictLiterals,
    always_denied,
    is_grant,
    is_restricted,
    plans_in,
    verdict_of,
)
from policy.symbolic.violation import Basis, Claim, Violation, require_violation

__all__ = [
    "RESOURCES",
    "AllCalls",
    "AnyPlan",
    "AnyTool",
    "Basis",
    "Claim",
    "CommandSet",
    "KnownTruths",
    "OpenCondition",
    "Reading",
    "RuleReader",
    "ShownCalls",
    "Situation",
    "Subject",
    "Truths",
    "Values",
    "VerdictLiterals",
    "Violation",
    "WhyOpen",
    "accepted_input",
    "always_denied",
    "any_tool",
    "command_set",
    "demands_too_much",
    "has_accepted_input",
    "includes",
    "is_grant",
    "is_restricted",
    "leaves_of",
    "open_conditions",
    "open_conditions_of_rule",
    "plans_in",
    "require_violation",
    "tests_of_changes",
    "unknown",
    "verdict_of",
]
