"""Reports rules that can never match, as far as the schemas tell.

Only certain cases are reported: values that a schema never accepts, effects that a tool never has,
and contradictions within the conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policy.checks.checked import Test
from policy.checks.conditions.fields import tool_names
from policy.checks.names.known_tools import KnownTool
from policy.checks.report import Report
from policy.checks.rules.clauses import Clauses
from policy.checks.satisfiability.outcomes import never_holds_outside, outcomes, resource_tests
from policy.checks.satisfiability.possible_values import FALSE, TRUE, UNDECIDED, ConditionContext


def check_can_hold(
    clauses: Clauses, tools: tuple[KnownTool, ...] | None, report: Report, *, grants: bool
) -> None:
    """Report a rule whose `when` can never hold, or whose `unless` always holds.

    `tools` are all the tools that the rule can match; None where there may be others.
    """
    when, unless = clauses.when, clauses.unless
    if when is not None and all(
        _is_dead(when, s, grants=grants) for s in _contexts(tools, grants=grants)
    ):
        report.add(
            "never-holds",
            "this condition can never hold, so the rule does nothing",
            span=clauses.when_span,
            help=_impossible(when, tools) or "correct the condition, or remove the rule",
        )
    elif unless is not None and all(
        _always(unless, context, grants=grants) or _excludes(when, unless, context)
        for context in _contexts(tools, grants=grants)
    ):
        report.add(
            "never-holds",
            "this exception always holds, so the rule does nothing",
            span=clauses.unless_span,
            help=_impossible(unless, tools) or "correct the condition, or remove the rule",
        )


def _contexts(
    tools: tuple[KnownTool, ...] | None, *, grants: bool
) -> Iterator[tuple[ConditionContext, ConditionContext]]:
    """Yield the contexts of `when` and `unless`, for each tool, or once for any tool."""
    for tool in tools or (None,):
        absent = UNDECIDED if grants else FALSE
        yield (
            ConditionContext(tool=tool, absent=absent),
            ConditionContext(tool=tool, absent=UNDECIDED),
        )


def _is_dead(
    when: Test, context: tuple[ConditionContext, ConditionContext], *, grants: bool
) -> bool:
    """Return whether `when` never matches; for a rule that restricts, indeterminate matches."""
    found = outcomes(when, context[0])
    return not found & TRUE if grants else found == FALSE


def _always(
    unless: Test, context: tuple[ConditionContext, ConditionContext], *, grants: bool
) -> bool:
    found = outcomes(unless, context[1])
    return not found & FALSE if grants else found == TRUE


def _excludes(
    when: Test | None, unless: Test, context: tuple[ConditionContext, ConditionContext]
) -> bool:
    """Return whether the exception repeats one of the conditions."""
    return when is not None and never_holds_outside(when, unless, context[0])


def _impossible(test: Test, tools: Iterable[KnownTool] | None) -> str:
    """Return the help for a resource test on an effect that none of the tools has."""
    if tools is None:
        return ""
    for part in resource_tests(test):
        if tools and not any(tool.may(part.verb) for tool in tools):
            names = tool_names([tool.spec.name for tool in tools])
            to = " to" if part.verb in ("connects", "sends") else ""
            return (
                f"{names} declares no argument that it {part.verb}{to}; name tools that do, "
                f"or declare it: `tool … {part.verb}{to} input.…`"
            )
    return ""
