"""Conditions about earlier calls: resolves their tools and labels, and where they may stand."""

from __future__ import annotations

from dataclasses import replace

from policy.catalog import ToolPattern, ToolSelector
from policy.checks.checked import (
    CheckedLabel,
    EarlierCall,
    EarlierCalls,
    FieldOf,
    FoundInLabelled,
    FoundInResults,
    InEarlierCalls,
    PastRead,
    Test,
    Value,
)
from policy.checks.conditions.declared_outputs import declared_outputs, output_type
from policy.checks.conditions.grounding import check_grounding, report_selecting
from policy.checks.conditions.kept_windows import check_window
from policy.checks.conditions.labels import read_label
from policy.checks.conditions.reader_state import (
    BROKEN,
    BROKEN_TEST,
    ReadTest,
    ReadValue,
    StatementContext,
)
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.conditions.value_types import call_type, list_of
from policy.checks.names.interpolation import dotted_name, duration_of
from policy.checks.names.labels import label_names
from policy.checks.names.references import in_backticks
from policy.checks.names.scopes import LabelSource
from policy.diagnostics import did_you_mean, nearest
from policy.syntax import print_expr, tree

_INSTEAD = "write it after `unless`, or ask `calls(…)` for the `.result` of each call"
_OF_EACH = "write `all x in LIST: …` or `any x in LIST: …`, outside of a selection"


def read_after(expr: tree.AfterTest, context: StatementContext, read: ReadTest) -> Test:
    """Return the test of earlier calls.

    Where the condition permits, its wildcards match as in an `allow`: a tool that a server adds
    later does not count.
    """
    tools, labels = _tools_and_labels(expr.tools, context, read, grants=context.permits is True)
    within = None
    if expr.within is not None:
        within = duration_of(expr.within, context.report)
        check_window(within, expr.within.span, context.check)
    return EarlierCall(tools=tools, within=within, text=context.words(expr), labels=labels)


def _tools_and_labels(
    tools: tree.Tools, context: StatementContext, read: ReadTest, *, grants: bool
) -> tuple[ToolSelector, tuple[CheckedLabel, ...]]:
    """Return the selector of the tools, and the labels that mark only some calls of theirs."""
    selector, lenient = context.check.tools.selector, context.is_in_pack
    tools = _without_slips(tools, context)
    sources = {ref: _label(ref, context) for ref in tools.included}
    if not any(sources.values()):
        return selector(tools, context.scope, grants=grants, lenient=lenient), ()
    others = tuple(ref for ref, found in sources.items() if not found)
    named = replace(tools, included=others)
    rest = selector(named, context.scope, grants=grants, lenient=lenient)
    parts: list[ToolSelector] = []
    some: list[CheckedLabel] = []
    for source in (each for found in sources.values() for each in found):
        label = read_label(source, context.check, read, is_in_pack=lenient)
        own = selector(source.node.tools, source.scope, grants=grants, lenient=lenient)
        if label.has_conditions:
            own = ToolSelector(included=(own,), excluded=rest.excluded, grants=grants)
            some.append(replace(label, tools=own))
            context.reads.append(PastRead(tools=label.tools, result=True))
        else:
            parts.append(own)
    included = (*parts, *rest.included)
    return ToolSelector(included=included, excluded=rest.excluded, grants=grants), tuple(some)


def _without_slips(tools: tree.Tools, context: StatementContext) -> tree.Tools:
    """Return the tools and labels without misspelled labels, which are reported."""
    slips = [ref for ref in (*tools.included, *tools.excluded) if _is_slip(ref, context)]
    return replace(
        tools,
        included=tuple(ref for ref in tools.included if ref not in slips),
        excluded=tuple(ref for ref in tools.excluded if ref not in slips),
    )


def _is_slip(ref: tree.ToolRef, context: StatementContext) -> bool:
    """Report a name that is no tool, and is like that of a label or cannot become a tool's."""
    name, scope, catalog = ref.pattern, context.scope, context.check.catalog
    labels = tuple(label_names(scope))
    pattern = ToolPattern(text=name)
    if ref.origin is not None or name in labels or not labels or pattern.exact_name is None:
        return False
    if scope.find(name) is not None or scope.is_broken(name) or catalog.get(name) is not None:
        return False
    meant = nearest(name, labels)
    if meant is None and (not catalog.complete or nearest(name, catalog.names) is not None):
        # Perhaps a tool: then it is reported as one.
        return False
    context.report.add(
        "unknown-label",
        f"no label and no tool is called `{name}`",
        span=ref.span,
        help=f"did you mean `{meant}`?" if meant else f"labels here: {in_backticks(labels)}",
    )
    return True


def _label(ref: tree.ToolRef, context: StatementContext) -> list[LabelSource]:
    """Return the statements of the label that a name means; none for a tool or a set of tools."""
    return [] if ref.origin is not None else context.scope.find_label(ref.pattern)


# ------------------------------------------------------------------ calls and results


def read_history(expr: tree.History, context: StatementContext, read: ReadTest) -> TypedValue:
    """Return the list of earlier calls, or of their results."""
    if expr.kind == "results":
        check_grounding(expr, context, instead=_INSTEAD, of_each=_OF_EACH)
    elif context.selecting:
        report_selecting(expr, context, of_each=_OF_EACH)
    permits = context.permits is True
    calls = EarlierCalls(
        kind=expr.kind,
        tools=context.check.tools.selector(
            expr.tools, context.scope, grants=permits, lenient=context.is_in_pack
        ),
        permits=permits,
        text=context.words(expr),
        labels=_all_labels(context, read) if permits else (),
        stores=context.check.stores if permits else (),
    )
    context.reads.append(PastRead(tools=calls.tools, result=expr.kind == "results"))
    specs, views = context.check.tools.matching(calls.tools), context.check.catalog.views
    result = output_type(specs, views)
    return TypedValue(
        value=replace(calls, outputs=declared_outputs(specs, views)),
        type=list_of(result if expr.kind == "results" else call_type(result)),
    )


def _all_labels(context: StatementContext, read: ReadTest) -> tuple[CheckedLabel, ...]:
    """Return every label of the layer: what one of them marks grounds nothing."""
    return tuple(
        read_label(source, context.check, read, is_in_pack=context.is_in_pack)
        for source in context.check.labels
    )


def in_earlier_calls(left: Value, right: Value, text: str) -> Test | None:
    """Return `left in right` where `right` is a field of earlier calls or of their results."""
    steps: list[str] = []
    while isinstance(right, FieldOf):
        steps.append(right.name)
        right = right.base
    if not isinstance(right, EarlierCalls):
        return None
    if right.kind == "calls" and (not steps or steps[-1] == "age"):
        return None
    return InEarlierCalls(left=left, calls=right, steps=tuple(reversed(steps)), text=text)


# ------------------------------------------------------------------ from


def read_from(
    expr: tree.From, context: StatementContext, value_of: ReadValue, read: ReadTest
) -> Test:
    """Return the test of whether values stand in results."""
    left = value_of(expr.left, context)
    if left is not BROKEN and not left.type.may_be("string", "number", "list"):
        context.report.add(
            "wrong-kind",
            f"`{print_expr(expr.left)}` is {left.type}, which cannot stand in a text",
            span=expr.left.span,
            help="name a field with a string, a number, or a list of them",
        )
        return BROKEN_TEST
    if isinstance(expr.source, tree.History):
        return _from_results(expr, expr.source, left, context, read)
    return _from_label(expr, expr.source, left, context, read)


def _from_results(
    expr: tree.From,
    source: tree.History,
    left: TypedValue,
    context: StatementContext,
    read: ReadTest,
) -> Test:
    if source.kind == "calls":
        context.report.add(
            "wrong-kind",
            "`from` looks into results, and `calls(…)` is a list of calls",
            span=source.span,
            help="write `from results(…)`",
        )
        return BROKEN_TEST
    calls = read_history(source, context, read).value
    assert isinstance(calls, EarlierCalls)
    if left is BROKEN:
        return BROKEN_TEST
    return FoundInResults(left=left.value, calls=calls, text=context.words(expr))


def _from_label(
    expr: tree.From, source: tree.Expr, left: TypedValue, context: StatementContext, read: ReadTest
) -> Test:
    name = dotted_name(source)
    sources = [] if name is None else context.scope.find_label(name)
    if not sources:
        _report_no_label(source, context)
        return BROKEN_TEST
    if context.tools is not None and (context.permits is not False or context.selecting):
        context.report.add(
            "suspicion-permits",
            f"`{print_expr(expr)}` may only stand where it restricts a call",
            span=expr.span,
            label="this selects elements" if context.selecting else "this position permits",
            help="it finds what was copied and misses what was rephrased: use it in a `deny` or "
            "an `ask`, and write `unless after LABEL` in an `allow`",
        )
    labels = tuple(
        read_label(one, context.check, read, is_in_pack=context.is_in_pack) for one in sources
    )
    context.reads.extend(PastRead(tools=label.tools, result=True) for label in labels)
    if left is BROKEN:
        return BROKEN_TEST
    return FoundInLabelled(left=left.value, labels=labels, text=context.words(expr))


def _report_no_label(source: tree.Expr, context: StatementContext) -> None:
    shown = print_expr(source)
    if context.scope.is_broken(shown):
        context.report.excuse()
        return
    known = list(label_names(context.scope))
    context.report.add(
        "unknown-label",
        f"there is no label `{shown}`",
        span=source.span,
        help=did_you_mean(shown, known) or f"declare it: `label {shown} on results of TOOLS`",
    )
