"""The tools whose verdicts depend on what commands do, as profiles of programs say it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from policy.checks import checked
from policy.program import LayerPlan
from policy.symbolic import plans_in
from policy.verify.difference.sides import Side


def reads_commands(side: Side) -> bool:
    """Return whether the verdict on calls of a tool may depend on what commands do.

    So it does for a tool that runs some, whatever the rules are, because the floor does.
    """
    return any(
        "runs" in layer.declared.verbs or any(map(_compares_commands, _conditions(layer)))
        for layer in side.layers
    )


def _conditions(layer: LayerPlan) -> Iterator[checked.Test | None]:
    rules = (*(plan.rule for plan in plans_in(layer)), *(plan.limit for plan in layer.limits))
    for rule in rules:
        yield rule.when
        yield rule.unless


def _compares_commands(node: Any) -> bool:
    """Return whether a value is looked for in a set of commands, besides what the call runs."""
    match node:
        case checked.ResourceTest():
            return False
        case checked.ValueSet():
            return node.kind == "commands"
        case tuple():
            return any(map(_compares_commands, node))
        case _ if is_dataclass(node):
            return any(_compares_commands(getattr(node, part.name)) for part in fields(node))
        case _:
            return False
