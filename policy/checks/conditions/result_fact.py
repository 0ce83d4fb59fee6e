"""The fact `result`: what the tool of this call has returned.

Only statements about results have it, and it is known only once the tool has run.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

from policy.catalog import ToolSelector
from policy.checks.checked import AllOf, AnyOf, Fact, Test
from policy.checks.conditions.declared_outputs import output_type
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.conditions.typed_value import TypedValue

RESULT = Fact(path=("result",))


def with_result(context: StatementContext, tools: ToolSelector) -> StatementContext:
    """Let the conditions of a statement about these tools read the fact `result`."""
    check = context.check
    declared = output_type(check.tools.matching(tools), check.catalog.views)
    context.locals["result"] = TypedValue(value=RESULT, type=declared)
    return context


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionParts:
    """A condition in two: the parts about the call, and those that read its result."""

    call: Test | None = None
    result: Test | None = None


def parts_of_when(when: Test | None) -> ConditionParts:
    """Return the two parts of a `when`: both must hold."""
    tests = when.tests if isinstance(when, AllOf) else () if when is None else (when,)
    call, result = _divided(tests)
    return ConditionParts(call=_all_of(call), result=_all_of(result))


def parts_of_unless(unless: Test | None) -> ConditionParts:
    """Return the two parts of an `unless`: neither may hold."""
    tests = unless.tests if isinstance(unless, AnyOf) else () if unless is None else (unless,)
    call, result = _divided(tests)
    return ConditionParts(call=_any_of(call), result=_any_of(result))


def _divided(tests: tuple[Test, ...]) -> tuple[tuple[Test, ...], tuple[Test, ...]]:
    return (
        tuple(test for test in tests if not reads_result(test)),
        tuple(test for test in tests if reads_result(test)),
    )


def _all_of(tests: tuple[Test, ...]) -> Test | None:
    if len(tests) <= 1:
        return tests[0] if tests else None
    texts = (f"({one.text})" if isinstance(one, AnyOf) else one.text for one in tests)
    return AllOf(tests=tests, text=" and ".join(texts))


def _any_of(tests: tuple[Test, ...]) -> Test | None:
    if len(tests) <= 1:
        return tests[0] if tests else None
    texts = (f"({one.text})" if isinstance(one, AllOf) else one.text for one in tests)
    return AnyOf(tests=tests, text=" or ".join(texts))


def reads_result(node: object) -> bool:
    """Return whether a part of a condition reads the result."""
    if node == RESULT:
        return True
    if isinstance(node, tuple):
        return any(reads_result(part) for part in node)
    if not is_dataclass(node):
        return False
    return any(reads_result(getattr(node, one.name)) for one in fields(node))
