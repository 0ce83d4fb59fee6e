"""`in`: resolves the test of a value against a set or a list."""

from __future__ import annotations

from policy.checks.checked import Constant, Membership, NotOf, Test, ValueSet
from policy.checks.conditions.comparisons import check_word
from policy.checks.conditions.earlier_calls import in_earlier_calls
from policy.checks.conditions.reader_state import BROKEN, BROKEN_TEST, ReadValue, StatementContext
from policy.checks.conditions.typed_value import TypedValue, literal
from policy.checks.conditions.value_types import NUMBER, STRING, ValueType, comparable, type_of
from policy.checks.names.interpolation import dotted_name
from policy.checks.names.sets import named_set, operand_set
from policy.syntax import print_expr, tree


def read_membership(expr: tree.In, context: StatementContext, value_of: ReadValue) -> Test:
    """Return the test of whether a value is in a set or a list."""
    left = value_of(expr.left, context)
    text = context.words(expr)
    outer = context.permits
    if expr.negated and outer is not None:
        # What permits if it is true restricts if it is false.
        context.permits = not outer
    try:
        member = _set_on_right(expr, left, text, context) or _list_on_right(
            expr, left, text, context, value_of
        )
    finally:
        context.permits = outer
    if member is None:
        return BROKEN_TEST
    return NotOf(test=member, text=text) if expr.negated else member


def _set_on_right(
    expr: tree.In, left: TypedValue, text: str, context: StatementContext
) -> Membership | None:
    kinds = _named_kinds(expr.right, context)
    if not kinds:
        return None
    members = operand_set(expr.right, kinds[0].kind, context.scope, context.check)
    _check_left(expr, left, NUMBER if members.kind == "numbers" else STRING, context)
    return Membership(left=left.value, right=members, text=text)


def _named_kinds(expr: tree.Expr, context: StatementContext) -> list[ValueSet]:
    """Return the named sets to which a name, or a list with names in it, refers."""
    if isinstance(expr, tree.ListLiteral):
        return [
            found
            for item in expr.items
            if not isinstance(item, (tree.Text, tree.Number))
            for found in _named_kinds(item, context)
        ]
    name = dotted_name(expr)
    if name is None or name.partition(".")[0] in context.locals:
        return []
    found = context.scope.find(name)
    named = named_set(found, context.check) if found is not None else None
    return [named] if named is not None else []


def _list_on_right(
    expr: tree.In, left: TypedValue, text: str, context: StatementContext, value_of: ReadValue
) -> Test | None:
    right = value_of(expr.right, context)
    if left is BROKEN or right is BROKEN:
        return None
    if not right.type.may_be("list"):
        is_text = right.type.must_be("string")
        context.report.add(
            "wrong-kind",
            f"`in` needs a set or a list, not {right.type}",
            span=expr.right.span,
            help=_instead_of_in(expr, left, is_text=is_text),
        )
        return None
    if right.type.must_be("list"):
        _check_left(expr, left, right.type.element, context)
        _check_items(expr, left, right, context)
    earlier = in_earlier_calls(left.value, right.value, text)
    return earlier or Membership(left=left.value, right=right.value, text=text)


def _instead_of_in(expr: tree.In, left: TypedValue, *, is_text: bool) -> str:
    """Return the help for an `in` before something that has no items."""
    first, second = print_expr(expr.left), print_expr(expr.right)
    if left.type.must_be("list"):
        return f"write `{second} in {first}`"
    if isinstance(expr.right, tree.Text):
        return f"write `{first} == {second}`, or a list: `{first} in [{second}]`"
    return f"write `{second} contains {first}`" if is_text else f"write `{first} == {second}`"


def _check_items(
    expr: tree.In, left: TypedValue, right: TypedValue, context: StatementContext
) -> None:
    """Report each item of a list that can never be equal, where others can."""
    if left.type.names is None or not isinstance(right.value, Constant):
        return
    element = right.type.element
    if not comparable(left.type, element):
        return
    if left.type.words is None and element.names is not None and element.names <= left.type.names:
        return
    nodes = expr.right.items if isinstance(expr.right, tree.ListLiteral) else ()
    for place, item in enumerate(right.value.value):
        node = nodes[place] if place < len(nodes) else expr.right
        check_word(left, expr.left, literal(item), context, span=node.span)
        kind = type_of(item)
        if comparable(left.type, kind):
            continue
        context.report.add(
            "wrong-kind",
            f"{left.type} and {kind} are never equal",
            span=node.span,
            help="remove the item, or write it like the others",
        )


def _check_left(
    expr: tree.In, left: TypedValue, item: ValueType, context: StatementContext
) -> None:
    if left.type.must_be("list") and not item.may_be("list"):
        context.report.add(
            "list-against-value",
            f"`{print_expr(expr.left)}` is a list, but `in` tests a single value",
            span=expr.span,
            help=f"write `any x in {print_expr(expr.left)}: x in {print_expr(expr.right)}`, "
            "or `all` if every element must match",
        )
    elif not comparable(left.type, item):
        context.report.add(
            "wrong-kind",
            f"{left.type} is never one of these: each is {item}",
            span=expr.span,
            help="compare values of one type",
        )
