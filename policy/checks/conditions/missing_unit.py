"""Numbers where a duration is needed: its author has left out the unit."""

from __future__ import annotations

from policy.checks.conditions.value_types import ValueType
from policy.syntax import print_expr, tree


def missing_unit(left: tree.Expr, right: tree.Expr, types: tuple[ValueType, ValueType]) -> str:
    """Return the help for a literal number beside a duration or a time, else ""."""
    for operand, other in ((left, types[1]), (right, types[0])):
        if isinstance(operand, tree.Number) and other.must_be("time", "duration"):
            shown = print_expr(operand)
            return f"`{shown}` is a number; a duration has a unit: `{shown}s`, `{shown}m`, …"
    return ""
