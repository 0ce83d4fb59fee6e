"""Lint: an `ask` about calls that no `allow` allows, so that an answer never lets one pass.

`ask` only restricts. Somebody who writes one beside the `allow` rules, in place of `allow … with
approval`, gets a denial by default.
"""

from __future__ import annotations

from policy.catalog import SANDBOX_CONNECT, ToolSpec
from policy.checks.checked import CheckedPolicy, CheckedRule
from policy.checks.lints.context import LintContext
from policy.checks.satisfiability.disjoint import never_meet, unreached_commands
from policy.diagnostics import Label
from policy.model import Verdict
from policy.values import quote

_MOST = 50  # rules that are compared with each other
_MOST_SHOWN = 2
_MOST_NAMED = 5  # commands in a message


def find(context: LintContext) -> None:
    """Report every `ask` for every agent that all `allow`s of its tools exclude."""
    if any(layer.broken for layer in context.layers):
        return  # a statement that does not parse may allow the calls
    everyone = context.policies[0]
    if not _denies_by_default(everyone) or everyone.incomplete:
        return
    allows = [rule for rule in everyone.rules if _is_sound(rule, Verdict.ALLOW)]
    for rule in everyone.rules:
        if _is_sound(rule, Verdict.ASK) and not rule.of_pack and rule.when is not None:
            _check(rule, allows, everyone, context)


def _is_sound(rule: CheckedRule, verdict: Verdict) -> bool:
    if rule.verdict is not verdict or rule.shadow or rule.broken:
        return False
    return not rule.id.startswith("table:filter.")


def _denies_by_default(policy: CheckedPolicy) -> bool:
    plain = next((default for default in policy.defaults if default.tools is None), None)
    return plain is not None and plain.verdict is Verdict.DENY


def _check(
    ask: CheckedRule, allows: list[CheckedRule], everyone: CheckedPolicy, context: LintContext
) -> None:
    specs = context.check.tools.matching(ask.tools)
    if any(_is_given_elsewhere(spec, everyone) or _is_denied(spec, everyone) for spec in specs):
        return
    beside = [rule for rule in allows if any(rule.tools.matches(spec) for spec in specs)]
    # Tools that nothing allows at all are reported as unreached.
    if not 0 < len(beside) <= _MOST:
        return
    profiles = context.check.profiles
    if not all(never_meet(ask, rule, profiles) for rule in beside):
        _check_commands(ask, beside, context)
        return
    context.check.report.add(
        "ask-outside-allows",
        "no `allow` covers what this `ask` is about, so it stays denied whatever a person answers",
        span=ask.span,
        labels=tuple(
            Label(span=rule.span, text="allows other calls") for rule in beside[:_MOST_SHOWN]
        ),
        help="`ask` only restricts: write `allow … with approval` in its place",
    )


def _check_commands(ask: CheckedRule, beside: list[CheckedRule], context: LintContext) -> None:
    """Report the commands that an `ask` names and that no `allow` covers."""
    missed = unreached_commands(ask, beside, context.check.profiles)
    if not missed:
        return
    more = len(missed) - _MOST_NAMED
    named = ", ".join(map(quote, missed[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")
    context.check.report.add(
        "ask-outside-allows",
        f"no `allow` covers {named}, so what this `ask` says about it never asks: it stays denied",
        span=ask.span,
        help="add the pattern to a set that is allowed, or leave it out: `ask` only restricts",
    )


def _is_given_elsewhere(spec: ToolSpec, everyone: CheckedPolicy) -> bool:
    """Return whether something other than an `allow` may grant a tool."""
    if spec.name == SANDBOX_CONNECT:
        return True  # the rule of the call whose program connects
    granting = (one for one in everyone.defaults if one.verdict is not Verdict.DENY)
    scoped = (one.tools for one in granting if one.tools is not None)
    delegated = (one.tools for one in everyone.delegations)
    return any(tools.matches(spec) for tools in (*scoped, *delegated))


def _is_denied(spec: ToolSpec, everyone: CheckedPolicy) -> bool:
    """Return whether a `deny` without a condition overrules the `ask`, which is an error itself."""
    return any(
        rule.verdict is Verdict.DENY and rule.texts == (None, None) and rule.tools.matches(spec)
        for rule in everyone.rules
    )
