"""`reads`, `writes`, `runs`, …: resolves the operand's set, and checks where each may stand.

A position permits if truth there makes the verdict less strict: the `when` of an `allow`, the
`unless` of a rule that restricts. `not` inverts it; `and`, `or`, quantifiers and names keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from policy.checks.checked import ResourceTest, SetKind, Test, ValueSet, WorkspaceItem
from policy.checks.conditions.reader_state import BROKEN_TEST, StatementContext
from policy.checks.conditions.value_types import FACT_ROOTS
from policy.checks.names.interpolation import constant_named, dotted_name, interpolate
from policy.checks.names.scopes import HOST_WORDS
from policy.checks.names.sets import named_set, operand_set
from policy.diagnostics import Label
from policy.syntax import print_expr, tree

# The types of set that each verb accepts, the usual one first.
_KINDS: Mapping[tree.Verb, tuple[SetKind, ...]] = {
    "reads": ("paths",),
    "writes": ("paths",),
    "runs": ("commands",),
    "connects": ("hosts",),
    "sends": ("addresses", "strings", "hosts"),
}
_PREPOSITION = {"connects": " to", "sends": " to"}


def read_resource_test(expr: tree.ResourceTest, context: StatementContext) -> Test:
    """Return the resource test, its operand as a set; report a form that misleads here."""
    context.speaks = True
    if context.selecting:
        context.report.add(
            "resource-test-in-selection",
            f"`{print_expr(expr)}` is about the whole call, not about an element",
            span=expr.span,
            help="move it out of the selection",
        )
        return BROKEN_TEST
    _check_place(expr, context)
    operand = _operand(expr, context)
    if operand is BROKEN_TEST:
        return BROKEN_TEST
    return ResourceTest(
        verb=expr.verb,
        form=expr.form,
        operand=cast("ValueSet | None", operand),
        permits=bool(context.permits),
        text=context.words(expr),
    )


def _check_place(expr: tree.ResourceTest, context: StatementContext) -> None:
    """Report a form that means something unexpected in a position that permits or restricts."""
    labels = tuple(Label(span=let.span, text="used through this `let`") for let in context.lets[:1])
    to = _PREPOSITION.get(expr.verb, "")
    bounded = not isinstance(expr.operand, (tree.Nothing, tree.Anything))
    if context.permits is True and expr.form == "some" and bounded:
        context.report.add(
            "plain-verb-permits",
            f"`{print_expr(expr)}` permits the call here if only one of several resources is "
            "inside",
            span=expr.span,
            label="this position permits",
            labels=labels,
            help=f"write `{expr.verb} only{to} …`, or `{expr.verb} any{to} …` if that is intended",
        )
    elif context.permits is True and expr.form == "outside":
        context.report.add(
            "outside-permits",
            f"`{print_expr(expr)}` permits the call here if only one of several resources is "
            "outside",
            span=expr.span,
            label="this position permits",
            labels=labels,
            help=f"write `{expr.verb} only{to} …` with the resources that may be used",
        )
    elif context.permits is False and expr.form == "only":
        context.report.add(
            "only-restricts",
            f"`{print_expr(expr)}` restricts the call here only if all its resources are inside",
            span=expr.span,
            label="this position restricts",
            labels=labels,
            help=(
                f"write `{expr.verb}{to} …`, which holds if one resource is inside, or "
                f"`{expr.verb} outside …`"
            ),
        )


def _operand(expr: tree.ResourceTest, context: StatementContext) -> ValueSet | Test | None:
    operand = expr.operand
    kinds = _KINDS[expr.verb]
    match operand:
        case tree.Anything():
            return None
        case tree.Nothing():
            return ValueSet(kind=kinds[0], included=())
        case tree.Text() | tree.ListLiteral() | tree.Name() | tree.Field():
            pass
        case _:
            context.report.add(
                "bad-operand",
                f"`{print_expr(operand)}` is not a set of {_kinds_text(kinds)}",
                span=operand.span,
                help="name a set, or list its items in brackets",
            )
            return BROKEN_TEST
    if _varies(operand, context):
        context.report.add(
            "bad-operand",
            f"`{print_expr(operand)}` differs between calls, but a fixed set is needed",
            span=operand.span,
            help="name a set, or list its items in brackets",
        )
        return BROKEN_TEST
    if "paths" in kinds and dotted_name(operand) == "workspace":
        return ValueSet(kind="paths", included=(WorkspaceItem(),))
    kind = _kind(operand, kinds, context)
    return operand_set(operand, kind, context.scope, context.check)


def _varies(operand: tree.Expr, context: StatementContext) -> bool:
    """Return whether an operand is a fact or a variable; `workspace` is a folder and is allowed."""
    name = dotted_name(operand)
    if name is None or name == "workspace":
        return False
    head = name.partition(".")[0]
    return head in context.locals or head in FACT_ROOTS


def _kind(operand: tree.Expr, kinds: tuple[SetKind, ...], context: StatementContext) -> SetKind:
    """Return the set type of an operand, from the sets it names, else from its items."""
    if len(kinds) == 1:
        return kinds[0]
    for name in _names(operand):
        found = context.scope.find(name)
        named = named_set(found, context.check) if found is not None else None
        if named is not None and named.kind in kinds:
            return named.kind
        if name in HOST_WORDS:
            return "hosts"
    texts = list(_texts(operand, context))
    return "addresses" if texts and all("@" in text for text in texts) else "strings"


def _names(operand: tree.Expr) -> Iterator[str]:
    if isinstance(operand, tree.ListLiteral):
        for item in operand.items:
            yield from _names(item)
    name = dotted_name(operand)
    if name is not None:
        yield name


def _texts(operand: tree.Expr, context: StatementContext) -> Iterator[str]:
    if isinstance(operand, tree.ListLiteral):
        for item in operand.items:
            yield from _texts(item, context)
    elif isinstance(operand, tree.Text):
        yield interpolate(operand.value, context.scope, context.report, span=operand.span)
    elif (name := dotted_name(operand)) is not None and (found := context.scope.find(name)):
        value = constant_named(found, context.report)
        if isinstance(value, str):
            yield value


def _kinds_text(kinds: tuple[SetKind, ...]) -> str:
    return " or ".join(kinds)
