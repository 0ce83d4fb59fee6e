"""Statements about a whole layer: defaults, delegations, undeclared resources."""

from __future__ import annotations

import re

from policy.catalog import CLIENT_REQUESTS, SERVER_REQUESTS, ToolSelector, ToolSpec
from policy.checks.assembly import EVERY, Layer
from policy.checks.checked import CheckedPolicy, CheckedRule
from policy.checks.context import CheckContext
from policy.checks.likely_resources import likely_declaration
from policy.checks.report import Report
from policy.checks.satisfiability.outcomes import resource_tests
from policy.diagnostics import Label
from policy.model import Verdict

# At the start of a statement, or of a line of one that is not at the margin.
_DEFAULT = re.compile(r"^[ \t]*default\b", re.IGNORECASE | re.MULTILINE)


def check_defaults(layer: Layer, policy: CheckedPolicy, report: Report) -> None:
    """Report a plain default that is missing, repeated or without effect."""
    plain = [default for default in policy.defaults if default.tools is None]
    if policy.key == EVERY and not plain and not _may_have_default(layer):
        _report_missing(layer, report)
    for default in plain[1:]:
        report.add(
            "second-default",
            "a second plain default in one layer",
            span=default.span,
            labels=(Label(span=plain[0].span, text="the first one"),),
            help="keep one, or say which tools it is for: `default … for TOOLS`",
        )
    if policy.key != EVERY and plain and plain[0].verdict is Verdict.ALLOW:
        report.add(
            "default-without-effect",
            "a plain `default allow` outside the layer of every agent grants nothing",
            span=plain[0].span,
            help=(
                "remove it; only the layer of every agent, and layers to which it delegates, can "
                "grant"
            ),
        )


def _may_have_default(layer: Layer) -> bool:
    """Return whether a statement that did not parse is probably the default."""
    return any(
        one.word == "default" or _DEFAULT.search(one.text) is not None for one in layer.broken
    )


def _report_missing(layer: Layer, report: Report) -> None:
    if layer.span is not None or layer.units:
        report.add(
            "missing-default",
            "the layer of every agent has no default",
            span=layer.span,
            help="write `default deny`, the verdict for calls that no rule allows",
        )
        return
    report.add(
        "missing-default",
        "no file begins with `policy for every agent`",
        span=None,
        help="add a file that begins with `policy for every agent` and has `default deny`; a file "
        "for some agents only restricts what that one allows",
    )


def check_delegations(policy: CheckedPolicy, check: CheckContext) -> None:
    """Report a delegated tool that has a default, which takes precedence."""
    scoped = [default for default in policy.defaults if default.tools is not None]
    for delegation in policy.delegations:
        delegated = check.tools.matching(delegation.tools)
        for default in scoped:
            assert default.tools is not None
            both = [spec.name for spec in delegated if default.tools.matches(spec)]
            if not both:
                continue
            check.report.add(
                "delegate-beside-default",
                f"`{both[0]}` is delegated and has a default, so the delegation does nothing",
                span=delegation.span,
                labels=(Label(span=default.span, text="its default"),),
                help="keep one of the two",
            )
            break


# How many tools a message names at most.
_MOST_NAMED = 3


def check_undeclared(policies: tuple[CheckedPolicy, ...], check: CheckContext) -> None:
    """Report, once each, tools of resource rules whose resources are not declared."""
    declared = [
        d.tools
        for policy in policies
        for d in policy.declarations
        if d.resources or d.complete or not (d.writes_to or d.reads_from)
    ]
    reported: set[str] = set()
    seen = set()
    for policy in policies:
        for rule in policy.rules:
            if not rule.speaks_of_resources or rule.tools in seen:
                continue
            seen.add(rule.tools)
            unknown = [
                spec
                for spec in check.tools.matching(rule.tools)
                if spec.name not in reported
                and not _is_declared(spec, declared)
                and not _is_confined_by(rule, spec)
            ]
            reported.update(spec.name for spec in unknown)
            if unknown:
                _report_undeclared(unknown, rule, check)


def _is_declared(spec: ToolSpec, declared: list[ToolSelector]) -> bool:
    if spec.complete or spec.resources or spec.name in SERVER_REQUESTS | CLIENT_REQUESTS:
        # Of what servers and their clients ask of each other, no declaration could say more.
        return True
    return any(tools.matches(spec) for tools in declared)


def _is_confined_by(rule: CheckedRule, spec: ToolSpec) -> bool:
    """Return whether a rule bounds the code of a plugin, which runs in a sandbox."""
    if rule.verdict is not Verdict.ALLOW or spec.origin.kind != "ext":
        return False
    tests = [test for part in (rule.when, rule.unless) for test in resource_tests(part)]
    return all(test.permits and test.form == "only" for test in tests)


def _report_undeclared(specs: list[ToolSpec], rule: CheckedRule, check: CheckContext) -> None:
    names = [spec.name for spec in specs]
    asked = (test.verb for part in (rule.when, rule.unless) for test in resource_tests(part))
    first = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more tools" if len(names) > _MOST_NAMED else ""
    check.report.add(
        "undeclared-resources",
        f"no declaration states which arguments of {first}{more} are resources",
        span=rule.span,
        label="has a condition on their resources",
        help=f"declare them: `{likely_declaration(specs[0], asked)}`; until then any string of "
        "their input may be a resource, and the rule may be indeterminate",
    )
