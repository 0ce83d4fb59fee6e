"""Lint: an `allow` of a tool that runs commands or connects, without a condition on which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from policy.catalog import ToolSpec
from policy.checks.checked import (
    CheckedPolicy,
    CheckedRule,
    Fact,
    ResourceTest,
    Test,
)
from policy.checks.conditions.fields import tool_names
from policy.checks.lints.context import LintContext
from policy.checks.satisfiability.outcomes import resource_tests
from policy.model import Verdict
from policy.syntax import tree

_VERBS: dict[tree.Verb, str] = {"runs": "run any command", "connects": "connect to any host"}
_LIMITS: dict[tree.Verb, str] = {
    "runs": "`when runs only …`",
    "connects": "`when connects only to …`",
}
# The facts that describe what a call does.
_ABOUT_THE_CALL = frozenset({"input", "call"})


def find(context: LintContext) -> None:
    """Report every `allow` of such a tool that neither it nor another rule limits."""
    if any(layer.broken for layer in context.layers):
        return  # a statement that does not parse may be the limit
    everyone = context.policies[0]
    for policy in context.policies:
        scope = _GrantingLayer(policy, everyone)
        for rule in policy.rules:
            if _is_open(rule):
                _check(rule, scope, context)


def _is_open(rule: CheckedRule) -> bool:
    """Return whether a rule of a policy file allows calls without approval or resource tests."""
    if rule.verdict is not Verdict.ALLOW or rule.speaks_of_resources:
        return False
    return not (rule.with_approval or rule.shadow or rule.broken or rule.id.startswith("table:"))


def _check(rule: CheckedRule, scope: _GrantingLayer, context: LintContext) -> None:
    specs = context.check.tools.matching(rule.tools)
    for verb, what in _VERBS.items():
        open_to = [
            spec.name
            for spec in specs
            if _has(spec, verb) and scope.grants(spec) and not scope.limits(spec, verb)
        ]
        if open_to and not any(_limits(test) for test in (rule.when, rule.unless)):
            context.check.report.add(
                "unlimited-allow",
                f"this `allow` lets {tool_names(open_to)} {what}",
                span=rule.span,
                help=f"limit it with {_LIMITS[verb]}, or require approval with `with approval`",
            )


def _has(spec: ToolSpec, verb: tree.Verb) -> bool:
    return any(resource.verb == verb for resource in spec.resources)


class _GrantingLayer:
    """What one layer can grant, and what restricts it: its rules and those for every agent."""

    def __init__(self, policy: CheckedPolicy, everyone: CheckedPolicy) -> None:
        self._is_global = policy is everyone
        self._delegated = [one.tools for one in everyone.delegations if one.to == policy.key]
        self._restricting: dict[tree.Verb, list[CheckedRule]] = {verb: [] for verb in _VERBS}
        for layer in (everyone,) if self._is_global else (everyone, policy):
            for rule in layer.rules:
                if not rule.speaks_of_resources or rule.shadow or rule.verdict is Verdict.ALLOW:
                    continue
                for verb in {test.verb for test in _tests(rule)} & _VERBS.keys():
                    self._restricting[verb].append(rule)

    def grants(self, spec: ToolSpec) -> bool:
        """Return whether an `allow` of the layer can allow a tool."""
        return self._is_global or any(tools.matches(spec) for tools in self._delegated)

    def limits(self, spec: ToolSpec, verb: tree.Verb) -> bool:
        """Return whether a rule restricts what a tool runs, or where it connects."""
        return any(rule.tools.matches(spec) for rule in self._restricting[verb])


def _tests(rule: CheckedRule) -> Iterator[ResourceTest]:
    yield from resource_tests(rule.when)
    yield from resource_tests(rule.unless)


def _limits(test: Test | None) -> bool:
    """Return whether a condition is about the input of the call, or what follows from it."""
    waiting: list[object] = [test]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Fact):
            if node.path[0] in _ABOUT_THE_CALL:
                return True
        elif isinstance(node, tuple):
            waiting.extend(node)
        elif is_dataclass(node):
            waiting.extend(getattr(node, field.name) for field in fields(node))
    return False
