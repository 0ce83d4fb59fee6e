"""Compiles a layered policy to a `Program`, which decides calls quickly."""

from policy.program.approval_terms import meaning_digest
from policy.program.compiler import compile_policy
from policy.program.input_changes import Conflict, Wanted, WantedChange, apply_changes
from policy.program.plan_inputs import PlanInputs, PlanMemory
from policy.program.program import (
    ALL_SHORTCUTS,
    NO_SHORTCUTS,
    Clause,
    LayerPlan,
    LimitPlan,
    Program,
    RedactionPlan,
    RewritePlan,
    RulePlan,
    Shortcuts,
    ToolPlan,
)
from policy.program.result_changes import (
    UNSEARCHED,
    ResultRedactor,
    ResultWithheld,
    texts_of_result,
)

__all__ = [
    "ALL_SHORTCUTS",
    "NO_SHORTCUTS",
    "UNSEARCHED",
    "Clause",
    "Conflict",
    "LayerPlan",
    "LimitPlan",
    "PlanInputs",
    "PlanMemory",
    "Program",
    "RedactionPlan",
    "ResultRedactor",
    "ResultWithheld",
    "RewritePlan",
    "RulePlan",
    "Shortcuts",
    "ToolPlan",
    "Wanted",
    "WantedChange",
    "apply_changes",
    "compile_policy",
    "meaning_digest",
    "texts_of_result",
]
