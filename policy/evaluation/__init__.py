"""Conditions and effects of one call, in three-valued logic: the meaning of every test."""

from policy.evaluation import resource_tests
from policy.evaluation.accesses import Access
from policy.evaluation.batched_tests import batch_tests, true_or_indeterminate
from policy.evaluation.budget_values import Payers, compile_payers
from policy.evaluation.call_sandbox import sandbox_of
from policy.evaluation.comparison import equal
from policy.evaluation.condition_outcome import (
    ConditionOutcome,
    DecidingResource,
    GroundedValue,
    Operator,
    outcome_of_condition,
)
from policy.evaluation.condition_scope import ConditionScope, TestOf, ValueOf
from policy.evaluation.conditions import compile_test
from policy.evaluation.declared_outputs import read_output
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effects import CallEffects, KnownResource
from policy.evaluation.enforced_sets import is_as_enforceable
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import compile_value, constant_value
from policy.evaluation.floor import Floor, ProtectedFile
from policy.evaluation.floor_test import FloorOf, FloorTruth, compile_floor
from policy.evaluation.kept_conditions import (
    MOST_WAYS,
    NOTHING,
    Limit,
    Way,
    Ways,
    WaysOf,
    all_ways,
    ways_to_keep,
)
from policy.evaluation.partial_evaluation import (
    Known,
    PossibleTruths,
    PossibleTruthsOf,
    any_truth,
    compile_partial,
    conjunction_of,
    negation_of,
)
from policy.evaluation.past_tools import Keep, keep_for, tool_matcher
from policy.evaluation.resource_tests import (
    compile_cover,
    covering_tests,
    known_answer,
    permits_writes_of_inline_code,
)
from policy.evaluation.set_items import mentions_inline_code, patterns_of
from policy.evaluation.sought_values import looks_elsewhere
from policy.evaluation.truth import ABSENT, Absent, Indeterminate, Truth, Value, all_of, negated

__all__ = [
    "ABSENT",
    "MOST_WAYS",
    "NOTHING",
    "Absent",
    "Access",
    "CallEffects",
    "ConditionOutcome",
    "ConditionScope",
    "DecidingResource",
    "DeclaredResources",
    "Evaluation",
    "Floor",
    "FloorOf",
    "FloorTruth",
    "GroundedValue",
    "Indeterminate",
    "Keep",
    "Known",
    "KnownResource",
    "Limit",
    "Operator",
    "Payers",
    "PossibleTruths",
    "PossibleTruthsOf",
    "ProtectedFile",
    "TestOf",
    "Truth",
    "Value",
    "ValueOf",
    "Way",
    "Ways",
    "WaysOf",
    "all_of",
    "all_ways",
    "any_truth",
    "batch_tests",
    "compile_cover",
    "compile_floor",
    "compile_partial",
    "compile_payers",
    "compile_test",
    "compile_value",
    "conjunction_of",
    "constant_value",
    "covering_tests",
    "equal",
    "is_as_enforceable",
    "keep_for",
    "known_answer",
    "looks_elsewhere",
    "mentions_inline_code",
    "negated",
    "negation_of",
    "outcome_of_condition",
    "patterns_of",
    "permits_writes_of_inline_code",
    "read_output",
    "resource_tests",
    "sandbox_of",
    "tool_matcher",
    "true_or_indeterminate",
    "ways_to_keep",
]
