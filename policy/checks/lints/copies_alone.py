"""Lint: a rule that restricts what was copied from a label, where no rule restricts the rest.

`from LABEL` finds copies. Whoever wrote the labelled text can ask for a value in other words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from policy.catalog import ToolSpec
from policy.checks.checked import CheckedLabel, CheckedRule, EarlierCall, FoundInLabelled
from policy.checks.lints.context import LintContext
from policy.model import Verdict


def find(context: LintContext) -> None:
    """Report every `deny` and `ask` by `from LABEL` without one by `after LABEL` on its tools."""
    restricting = [
        rule
        for policy in context.policies
        for rule in policy.rules
        if rule.verdict is not Verdict.ALLOW and not rule.shadow and not rule.broken
    ]
    # Most policies have neither.
    looking = [rule for rule in restricting if rule.reads and not rule.of_pack]
    for rule in looking:
        found = next(_of_type(FoundInLabelled, rule.when), None)
        if found is not None and not _is_guarded(rule, found, restricting, context):
            _report(rule, found, context)


def _is_guarded(
    rule: CheckedRule, found: FoundInLabelled, rules: list[CheckedRule], context: LintContext
) -> bool:
    """Return whether other rules restrict one of the tools after each of the labels."""
    tools = context.check.tools.matching(rule.tools)
    guards = [
        guard
        for guard in rules
        if any(guard.tools.matches(spec) for spec in tools)
        and next(_of_type(FoundInLabelled, guard.when), None) is None
    ]
    return all(
        any(_is_after(guard, label, context.check.tools.matching(label.tools)) for guard in guards)
        for label in found.labels
    )


def _is_after(guard: CheckedRule, label: CheckedLabel, sources: tuple[ToolSpec, ...]) -> bool:
    return any(
        any(one.name == label.name for one in after.labels)
        or (bool(sources) and all(after.tools.matches(spec) for spec in sources))
        for after in _of_type(EarlierCall, guard.when)
    )


def _report(rule: CheckedRule, found: FoundInLabelled, context: LintContext) -> None:
    label = found.labels[0].name
    context.check.report.add(
        "copies-alone",
        f"`{found.text}` finds what was copied, and nothing restricts what was rephrased",
        span=rule.span,
        help=f"add a rule with `after {label}` for these tools, such as an `ask`",
    )


def _of_type(wanted: type[Any], node: Any) -> Iterator[Any]:
    """Yield every part of a condition that is of a type."""
    if isinstance(node, wanted):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from _of_type(wanted, part)
    elif is_dataclass(node):
        for one in fields(node):
            yield from _of_type(wanted, getattr(node, one.name))
