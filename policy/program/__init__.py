"""A layered policy becomes something fast to ask: `compile_policy` makes a `Program` of it."""

from __future__ import annotations

from policy.program.changes import Conflict, Wanted, Wish, apply_changes
from policy.program.compiler import compile_policy
from policy.program.declared import DeclaredResources
from policy.program.effects import Effects, Item
from policy.program.evaluation import Evaluation
from policy.program.expressions import TestOf
from policy.program.floor import Floor
from policy.program.generated import Unsettled, is_plain_text
from policy.program.ingredients import Ingredients, PlanMemory
from policy.program.program import (
    ALL_SHORTCUTS,
    NO_SHORTCUTS,
    Clause,
    LayerPlan,
    Program,
    RewritePlan,
    RulePlan,
    Shortcuts,
    ToolPlan,
)
from policy.program.prospect import Known, Prospect
from policy.program.touches import Touch
from policy.program.truth import ABSENT, Truth, Undecided

__all__ = [
    "ABSENT",
    "ALL_SHORTCUTS",
    "NO_SHORTCUTS",
    "Clause",
    "Conflict",
    "DeclaredResources",
    "Effects",
    "Evaluation",
    "Floor",
    "Ingredients",
    "Item",
    "Known",
    "LayerPlan",
    "PlanMemory",
    "Program",
    "Prospect",
    "RewritePlan",
    "RulePlan",
    "Shortcuts",
    "TestOf",
    "ToolPlan",
    "Touch",
    "Truth",
    "Undecided",
    "Unsettled",
    "Wanted",
    "Wish",
    "apply_changes",
    "compile_policy",
    "is_plain_text",
]
