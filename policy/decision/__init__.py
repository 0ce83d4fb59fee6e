"""Decides calls: `decide` takes an admitted call, `answer` a raw one; both return a `Decision`."""

from policy.decision.clause_outcome import (
    ClauseOutcome,
    Outcome,
    PartOutcome,
    ResourceOutcome,
    ValueOutcome,
)
from policy.decision.compiled import decide_compiled
from policy.decision.confining import confinement_of, with_confinement
from policy.decision.decider import Answer, answer, decide
from policy.decision.explanation import Explanation, explain
from policy.decision.identity import closed_to, identity_reasons
from policy.decision.interpreted import decide_interpreted
from policy.decision.nearest_allow import nearest_allow
from policy.decision.needed import is_relevant
from policy.decision.past_charges import PastCharges
from policy.decision.reasons import described, sentence
from policy.decision.resources import ResourceUse, resource_uses
from policy.decision.result_rules import NO_RESULT, ResultRules, result_rules
from policy.decision.rule_outcome import LayerOutcome, RuleOutcome
from policy.decision.sentences.for_caller import lines_for
from policy.decision.sentences.rules import approval_words
from policy.decision.value_places import ValuePlace, value_places
from policy.decision.visibility import Visibility, visibility_of
from policy.model import Decision, GenerationId

__all__ = [
    "NO_RESULT",
    "Answer",
    "ClauseOutcome",
    "Decision",
    "Explanation",
    "GenerationId",
    "LayerOutcome",
    "Outcome",
    "PartOutcome",
    "PastCharges",
    "ResourceOutcome",
    "ResourceUse",
    "ResultRules",
    "RuleOutcome",
    "ValueOutcome",
    "ValuePlace",
    "Visibility",
    "answer",
    "approval_words",
    "closed_to",
    "confinement_of",
    "decide",
    "decide_compiled",
    "decide_interpreted",
    "described",
    "explain",
    "identity_reasons",
    "is_relevant",
    "lines_for",
    "nearest_allow",
    "resource_uses",
    "result_rules",
    "sentence",
    "value_places",
    "visibility_of",
    "with_confinement",
]
