"""Conditions: resolves each to its test; one module beside this for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, assert_never

from policy.checks.checked import (
    AllOf,
    AnyOf,
    NotOf,
    Presence,
    Quantified,
    Test,
    TypeTest,
    ValueTest,
)
from policy.checks.conditions.comparisons import read_comparison
from policy.checks.conditions.earlier_calls import read_after, read_from
from policy.checks.conditions.expressions import CONDITIONS, read_value
from policy.checks.conditions.membership import read_membership
from policy.checks.conditions.named_by_user import read_named_by_user
from policy.checks.conditions.reader_state import (
    BROKEN_TEST,
    PartReaders,
    ReadValue,
    StatementContext,
)
from policy.checks.conditions.resource_tests import read_resource_test
from policy.checks.conditions.string_tests import read_like, read_match, read_string_relation
from policy.checks.conditions.time_windows import read_window
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.conditions.value_types import ValueType
from policy.checks.names.interpolation import dotted_name
from policy.checks.names.references import inline_let
from policy.checks.names.scopes import Definition
from policy.syntax import print_expr, tree

_BROKEN: Test = BROKEN_TEST


def read_test(expr: tree.Expr, context: StatementContext) -> Test:
    """Return the test that `expr` means; report its mistakes."""
    if not context.count(expr.span):
        return BROKEN_TEST
    return TESTS.get(type(expr), _truth)(expr, context)


def _and(expr: tree.And, context: StatementContext) -> Test:
    return AllOf(tests=_all(expr.operands, context), text=context.words(expr))


def _or(expr: tree.Or, context: StatementContext) -> Test:
    return AnyOf(tests=_all(expr.operands, context), text=context.words(expr))


def _all(operands: Iterable[tree.Expr], context: StatementContext) -> tuple[Test, ...]:
    return tuple([read_test(operand, context) for operand in operands])


def value(expr: tree.Expr, context: StatementContext) -> TypedValue:
    """Return the value of an expression inside a condition."""
    return read_value(expr, context, _PARTS)


_PARTS = PartReaders(value, read_test)


def _not(expr: tree.Not, context: StatementContext) -> Test:
    outer = context.permits
    context.permits = None if outer is None else not outer
    try:
        return NotOf(test=read_test(expr.operand, context), text=context.words(expr))
    finally:
        context.permits = outer


def _truth(expr: tree.Expr, context: StatementContext) -> Test:
    """Read a value used as a condition, or the name of a `let` that is a condition."""
    found = _let(expr, context)
    if found is not None:
        assert isinstance(found.node, tree.Let)
        inner = inline_let(
            found,
            expr.span,
            context,
            lambda test: read_test(test, context),
            broken=_BROKEN,
        )
        return inner if inner is BROKEN_TEST else replace(inner, text=context.words(expr))
    read = value(expr, context)
    if not read.type.may_be("boolean"):
        context.report.add(
            "not-a-condition",
            f"`{print_expr(expr)}` is {read.type}, but a condition is needed here",
            span=expr.span,
            help=_condition_help(expr, read.type),
        )
        return BROKEN_TEST
    return ValueTest(value=read.value, text=context.words(expr))


def _condition_help(expr: tree.Expr, kind: ValueType) -> str:
    shown = print_expr(expr)
    if isinstance(expr, tree.Text):
        return f"list several items in brackets: `reads [{shown}, …]`, or compare: `… == {shown}`"
    if kind.must_be("list"):
        return f"test it: `{shown} == []`, or `any x in {shown}: …`"
    return f"test it: `{shown} == …`, or `{shown} is present`"


def _let(expr: tree.Expr, context: StatementContext) -> Definition | None:
    """Return the definition where `expr` names a `let` whose value is a condition."""
    name = dotted_name(expr)
    if name is None or name.partition(".")[0] in context.locals:
        return None
    found = context.scope.find(name)
    if found is None or not isinstance(found.node, tree.Let):
        return None
    if isinstance(found.node.value, CONDITIONS):
        return found
    seen = [found]
    inner: Definition | None = found
    while inner is not None and isinstance(inner.node, tree.Let):
        if isinstance(inner.node.value, CONDITIONS):
            return found
        name = dotted_name(inner.node.value)
        inner = inner.scope.find(name) if name else None
        if inner in seen:
            return None
        if inner is not None:
            seen.append(inner)
    return None


def _quantifier(expr: tree.Quantifier, context: StatementContext) -> Test:
    source = value(expr.source, context)
    with context.variable(expr.variable, expr.index, source=source, span=expr.span) as slots:
        test = read_test(expr.test, context)
    return Quantified(
        kind=expr.kind,
        slot=slots[0],
        index_slot=slots[1],
        source=source.value,
        test=test,
        text=context.words(expr),
    )


def _of_values(
    read: Callable[[Any, StatementContext, ReadValue], Test],
) -> Callable[[Any, StatementContext], Test]:
    """Return the reader of a condition about values."""
    return lambda expr, context: read(expr, context, value)


def _is(expr: tree.Is, context: StatementContext) -> Test:
    left = value(expr.left, context)
    text = context.words(expr)
    match expr.what:
        case "present" | "absent":
            return Presence(left=left.value, present=expr.what == "present", text=text)
        case "string" | "number" | "boolean" | "list" | "object":
            return TypeTest(left=left.value, kind=expr.what, text=text)
        case _:
            assert_never(expr.what)


# The reader of each condition; any other node is a value used as a condition.
TESTS: Mapping[type, Callable[[Any, StatementContext], Test]] = MappingProxyType(
    {
        tree.And: _and,
        tree.Or: _or,
        tree.Not: _not,
        tree.Quantifier: _quantifier,
        tree.Compare: _of_values(read_comparison),
        tree.In: _of_values(read_membership),
        tree.TextTest: _of_values(read_string_relation),
        tree.Like: _of_values(read_like),
        tree.Matches: _of_values(read_match),
        tree.Is: _is,
        tree.Window: _of_values(read_window),
        tree.ResourceTest: read_resource_test,
        tree.NamedByUser: _of_values(read_named_by_user),
        tree.From: lambda expr, context: read_from(expr, context, value, read_test),
        tree.AfterTest: lambda expr, context: read_after(expr, context, read_test),
    }
)
