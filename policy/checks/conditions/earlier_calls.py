"""`after TOOLS within SPAN`: resolves the tools and labels, and the span."""

from __future__ import annotations

from dataclasses import replace

from policy.catalog import ToolSelector
from policy.checks.checked import EarlierCall, Test
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.names.interpolation import duration_of
from policy.checks.names.scopes import LabelSource
from policy.syntax import tree


def read_after(expr: tree.AfterTest, context: StatementContext) -> Test:
    """Return the test of earlier calls.

    Where the condition permits, its wildcards match as in an `allow`: a tool that a server adds
    later does not count.
    """
    tools = _tools(expr.tools, context, grants=context.permits is True)
    within = None if expr.within is None else duration_of(expr.within, context.report)
    return EarlierCall(tools=tools, within=within, text=context.words(expr))


def _tools(tools: tree.Tools, context: StatementContext, *, grants: bool) -> ToolSelector:
    """Return the selector of the tools, those of labels among them."""
    read, lenient = context.check.tools.selector, context.is_in_pack
    labels = {ref: _label(ref, context) for ref in tools.included}
    if not any(labels.values()):
        return read(tools, context.scope, grants=grants, lenient=lenient)
    parts = [
        read(source.node.tools, source.scope, grants=grants, lenient=lenient)
        for sources in labels.values()
        for source in sources
    ]
    others = tuple(ref for ref, sources in labels.items() if not sources)
    if others or tools.excluded:
        named = replace(tools, included=others)
        rest = read(named, context.scope, grants=grants, lenient=lenient)
        return ToolSelector(
            included=(*parts, *rest.included), excluded=rest.excluded, grants=grants
        )
    return ToolSelector(included=tuple(parts), grants=grants)


def _label(ref: tree.ToolRef, context: StatementContext) -> list[LabelSource]:
    """Return the statements of the label that a name means; none for a tool or a set of tools."""
    return [] if ref.origin is not None else context.scope.find_label(ref.pattern)
