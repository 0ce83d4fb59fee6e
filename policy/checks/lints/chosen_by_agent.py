"""Lint: a permission by the input of an earlier call, which the agent chose itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from policy.checks.checked import (
    CheckedRule,
    EarlierCalls,
    FieldOf,
    FoundInResults,
    InEarlierCalls,
    NamedByUser,
    Quantified,
    Selected,
    Variable,
)
from policy.checks.lints.context import LintContext


def find(context: LintContext) -> None:
    """Report every rule that permits by inputs of earlier calls alone."""
    for rule in context.check.fresh:
        if rule.reads and not any(read.result for read in rule.reads):
            _look_at(rule, context)


def _look_at(rule: CheckedRule, context: LintContext) -> None:
    nodes = [node for test in (rule.when, rule.unless) for node in _nodes(test)]
    if any(_grounds(node) for node in nodes):
        return
    found = next((text for node in nodes if (text := _permits_by_input(node))), None)
    if found is not None:
        context.check.report.add(
            "chosen-by-agent",
            f"`{found}` permits by the inputs of earlier calls, which the agent chose itself",
            span=rule.span,
            help="use the `.result` of the call, `in results(…)` or `named by user`",
        )


def _nodes(node: Any) -> Iterator[Any]:
    """Yield every part of a condition."""
    if isinstance(node, tuple):
        for part in node:
            yield from _nodes(part)
    elif is_dataclass(node):
        yield node
        for one in fields(node):
            yield from _nodes(getattr(node, one.name))


def _grounds(node: Any) -> bool:
    if isinstance(node, InEarlierCalls):
        return node.calls.kind == "results"
    return isinstance(node, (FoundInResults, NamedByUser))


def _permits_by_input(node: Any) -> str | None:
    """Return the text of the list of calls whose inputs a permitting condition reads."""
    if isinstance(node, InEarlierCalls):
        reads = node.calls.permits and node.steps[0] == "input"
        return node.calls.text if reads else None
    if not isinstance(node, (Quantified, Selected)) or not isinstance(node.source, EarlierCalls):
        return None
    if not node.source.permits or node.source.kind != "calls":
        return None
    own = FieldOf(base=Variable(slot=node.slot), name="input")
    return node.source.text if any(part == own for part in _nodes(node.test)) else None
