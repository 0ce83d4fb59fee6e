"""A program and a call become a decision: `decide` for an admitted call, `answer` for a raw one."""

from __future__ import annotations

from policy.decision.decider import Answer, answer, decide
from policy.decision.decision import Decision, GenerationId
from policy.decision.expectation import Outlook, Tag, operations_in, outlook
from policy.decision.explanation import (
    ClauseOutcome,
    Explanation,
    LayerOutcome,
    RuleOutcome,
    explain,
)
from policy.decision.identity import closed_to, identity_reasons
from policy.decision.interpreted import decide_at_length
from policy.decision.quick import decide_quickly
from policy.decision.reasons import described, sentence
from policy.decision.resource_use import ResourceUse, resource_uses
from policy.decision.rule_lines import lines_for
from policy.decision.sentences import approval_words
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
    "Tag",
    "answer",
    "approval_words",
    "closed_to",
    "decide",
    "decide_at_length",
    "decide_quickly",
    "described",
    "explain",
    "identity_reasons",
    "lines_for",
    "operations_in",
    "outlook",
    "resource_uses",
    "sentence",
]
