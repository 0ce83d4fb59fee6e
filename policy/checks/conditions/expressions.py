"""Expressions: resolves each to its value, with its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from policy.checks.checked import Constant, ListOf, ObjectOf
from policy.checks.conditions.earlier_calls import read_history
from policy.checks.conditions.field_access import read_field
from policy.checks.conditions.functions import (
    read_arithmetic,
    read_function,
    read_negative,
    read_selection,
)
from policy.checks.conditions.reader_state import BROKEN, PartReaders, StatementContext
from policy.checks.conditions.typed_value import TypedValue, literal
from policy.checks.conditions.value_types import STRING, STRINGS, ValueType, list_type
from policy.checks.names.interpolation import duration_of, interpolate, number_value
from policy.checks.names.references import read_name
from policy.model import freeze
from policy.syntax import print_expr, tree

CONDITIONS = (
    tree.Quantifier,
    tree.And,
    tree.Or,
    tree.Not,
    tree.Compare,
    tree.In,
    tree.TextTest,
    tree.Like,
    tree.Matches,
    tree.Is,
    tree.NamedByUser,
    tree.From,
    tree.Window,
    tree.ResourceTest,
    tree.AfterTest,
)


def read_value(expr: tree.Expr, context: StatementContext, parts: PartReaders) -> TypedValue:
    """Return the value of `expr` and its type; report its mistakes.

    `parts` reads the expressions inside, conditions included.
    """
    if not context.count(expr.span):
        return BROKEN
    reader = VALUES.get(type(expr))
    if reader is not None:
        return reader(expr, context, parts)
    context.report.add(
        "condition-as-value",
        f"`{print_expr(expr)}` is a condition, but a value is needed here",
        span=expr.span,
        help="conditions belong in `when` and `unless`, joined with `and`, `or` and `not`",
    )
    return BROKEN


def _shared(value: str | int, context: StatementContext) -> TypedValue:
    """Return a string or a whole number; rules with the same one share it."""
    key = (type(value), value)
    found = context.check.literals.get(key)
    if found is None:
        found = context.check.literals[key] = literal(value)
    return found


def _text(expr: tree.Text, context: StatementContext, _: PartReaders) -> TypedValue:
    text = expr.value
    if "${" in text:
        text = interpolate(text, context.scope, context.report, span=expr.span)
    return _shared(text, context)


def _number(expr: tree.Number, context: StatementContext, _: PartReaders) -> TypedValue:
    held = number_value(expr, context.report)
    return _shared(held, context) if isinstance(held, int) else literal(held)


def _duration(expr: tree.Duration, context: StatementContext, _: PartReaders) -> TypedValue:
    return literal(duration_of(expr, context.report))


def _boolean(expr: tree.Boolean, context: StatementContext, _: PartReaders) -> TypedValue:
    return _shared(expr.value, context)


def _null(_: tree.Null, __: StatementContext, ___: PartReaders) -> TypedValue:
    return literal(None)


def _history(expr: tree.History, context: StatementContext, parts: PartReaders) -> TypedValue:
    return read_history(expr, context, parts.test)


def _list(expr: tree.ListLiteral, context: StatementContext, parts: PartReaders) -> TypedValue:
    items = [parts.value(item, context) for item in expr.items]
    kind = _type_of_list([item.type for item in items])
    if all(type(item.value) is Constant for item in items):
        values = tuple([cast("Constant", item.value).value for item in items])
        if kind is STRINGS:
            return context.check.lists.setdefault(
                values, TypedValue(value=Constant(value=values), type=kind)
            )
        return TypedValue(value=Constant(value=values), type=kind)
    return TypedValue(value=ListOf(items=tuple([item.value for item in items])), type=kind)


def _type_of_list(types: list[ValueType]) -> ValueType:
    if types and all(kind is STRING for kind in types):
        return STRINGS
    return list_type(types)


def _object(expr: tree.ObjectLiteral, context: StatementContext, parts: PartReaders) -> TypedValue:
    entries = [(key, parts.value(v, context).value) for key, v in expr.entries]
    if all(isinstance(value, Constant) for _, value in entries):
        return literal(freeze({key: cast("Constant", value).value for key, value in entries}))
    return TypedValue(value=ObjectOf(entries=tuple(entries)), type=ValueType(frozenset({"object"})))


# The reader of each node that is a value; the others are conditions.
VALUES: Mapping[type, Callable[[Any, StatementContext, PartReaders], TypedValue]] = (
    MappingProxyType(
        {
            tree.Text: _text,
            tree.Number: _number,
            tree.Duration: _duration,
            tree.Boolean: _boolean,
            tree.Null: _null,
            tree.ListLiteral: _list,
            tree.ObjectLiteral: _object,
            tree.Name: read_name,
            tree.Field: read_field,
            tree.Index: read_field,
            tree.Function: read_function,
            tree.Selection: read_selection,
            tree.History: _history,
            tree.Arithmetic: read_arithmetic,
            tree.Negate: read_negative,
        }
    )
)
