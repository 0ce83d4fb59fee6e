"""All values that an expression can have over all calls of a tool.

Sets of truth values are bits of a number, because every condition of every rule needs several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from policy.checks.checked import Constant, Fact, Value
from policy.checks.names.known_tools import KnownTool, field_steps

# A set of the three truth values.
Outcomes: TypeAlias = int

TRUE: Final = 1
FALSE: Final = 2
UNDECIDED: Final = 4
ANY: Final = TRUE | FALSE | UNDECIDED
# The longest list of choices that is tried one by one.
MOST_CHOICES: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionContext:
    """The context of a test: its tool, and the outcome of a test of an absent value.

    `assumed` are values assumed to be constants.
    """

    tool: KnownTool | None = None
    absent: Outcomes = FALSE
    assumed: tuple[tuple[Value, Any], ...] = ()

    def with_assumed(self, value: Value, held: Any) -> ConditionContext:
        """Return the context with one more value assumed to be a constant."""
        assumed = (*self.assumed, (value, held))
        return ConditionContext(tool=self.tool, absent=self.absent, assumed=assumed)


def possible_values(value: Value, context: ConditionContext) -> tuple[Any, ...] | None:
    """Return the possible constants of a value, None among them for absent; None if unknown."""
    if isinstance(value, Constant):
        # Null also stands for an expression with a mistake.
        return None if value.value is None else (value.value,)
    for other, held in context.assumed:
        if other == value:
            return (held,)
    if context.tool is None:
        return None
    if isinstance(value, Fact):
        found = context.tool.fact(value)
        return (found.value,) if isinstance(found, Constant) else None
    steps = field_steps(value)
    if steps is None:
        return None
    choices = context.tool.view.certain(steps).choices
    if not choices or len(choices) > MOST_CHOICES:
        return None
    held = tuple(choice for choice in choices if choice is not None)
    return held if context.tool.is_always_there(steps) else (*held, None)
