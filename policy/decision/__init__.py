"""A program and a call become a decision: `decide` for an admitted call, `answer` for a raw one."""

from policy.decision.decider import Answer, answer, decide
from policy.decision.decision import Decision, GenerationId
from policy.decision.explain import (
    ClauseOutcome,
    Explanation,
    LayerOutcome,
    RuleOutcome,
    explain,
)
from policy.decision.identity import identity_reasons
from policy.decision.outlook import Outlook, outlook
from policy.decision.resource_use import ResourceUse, resource_uses
from policy.reason import Reason

__all__ = [
    "Answer",
    "ClauseOutcome",
    "Decision",
    "Explanation",
    "GenerationId",
    "LayerOutcome",
    "Outlook",
    "Reason",
    "ResourceUse",
    "RuleOutcome",
    "answer",
    "decide",
    "explain",
    "identity_reasons",
    "outlook",
    "resource_uses",
]
