"""Reports tools whose effects an `allow` never covers.

Such an `allow` permits only effects that its `only` clauses cover. It never allows a tool that
certainly has other effects.
"""

from __future__ import annotations

from policy.catalog import VERBS, Verb
from policy.checks.checked import CheckedRule, ResourceTest
from policy.checks.conditions.fields import tool_names
from policy.checks.names.known_tools import KnownTool
from policy.checks.report import Report
from policy.checks.satisfiability.outcomes import is_empty, resource_tests
from policy.diagnostics import Severity
from policy.model import Verdict

_TO = {"connects": " to", "sends": " to"}


def check_uncovered_effects(
    rule: CheckedRule, tools: tuple[KnownTool, ...], report: Report, *, others: bool
) -> None:
    """Report the tools that an `allow` never allows: an error if it is all of them.

    `others` is whether the rule may match further tools, or matches every tool.
    """
    if rule.verdict is not Verdict.ALLOW or not rule.speaks_of_resources:
        return
    covered = {test.verb for test in resource_tests(rule.when) if _covers(test)}
    open_verbs = {tool.spec.name: _left_open(tool, covered) for tool in tools}
    left = {name: verbs for name, verbs in open_verbs.items() if verbs}
    if not left or (others and len(left) < len(tools)):
        return
    verbs = [verb for verb in VERBS if any(verb in found for found in left.values())]
    whole = len(left) == len(tools) and not others
    clauses = " and ".join(f"`{verb} only{_TO.get(verb, '')} …`" for verb in verbs)
    does = " and ".join(f"{verb}{_TO.get(verb, '')}" for verb in verbs)
    report.add(
        "effect-not-covered",
        f"no clause of this `allow` covers what {tool_names(list(left))} {does}, "
        f"so it never allows {'it' if len(left) == 1 else 'them'}",
        span=rule.span,
        label="has conditions on resources, and so allows only what they cover",
        help=f"add {clauses}" + ("" if whole else ", or remove these tools from the rule"),
        severity=Severity.ERROR if whole else Severity.WARNING,
    )


def _covers(test: ResourceTest) -> bool:
    free = test.operand is None or is_empty(test.operand)
    return test.permits and (test.form == "only" or free)


def _left_open(tool: KnownTool, covered: set[Verb]) -> tuple[Verb, ...]:
    """Return the effects that every call of the tool has and nothing covers."""
    if not tool.complete:
        return ()
    return tuple(verb for verb in VERBS if verb not in covered and tool.surely(verb))
