"""Compiles a layered policy to a `Program`, which decides calls quickly."""

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
    RewritePlan,
    RulePlan,
    Shortcuts,
    ToolPlan,
)

__all__ = [
    "ALL_SHORTCUTS",
    "NO_SHORTCUTS",
    "Clause",
    "Conflict",
    "LayerPlan",
    "LimitPlan",
    "PlanInputs",
    "PlanMemory",
    "Program",
    "RewritePlan",
    "RulePlan",
    "Shortcuts",
    "ToolPlan",
    "Wanted",
    "WantedChange",
    "apply_changes",
    "compile_policy",
]
