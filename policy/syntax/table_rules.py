"""Translate a key of a permission table to rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from policy.model import Span, Verdict
from policy.syntax import tree as t


def tool_ref(text: str, span: Span) -> t.ToolRef:
    """Return the tools that a key names; `mcp SERVER/TOOL` names their server."""
    origin, _, rest = text.partition(" ")
    if origin not in ("mcp", "ext") or not rest.strip():
        return t.ToolRef(origin=None, pattern=text, span=span)
    named: Literal["mcp", "ext"] = "mcp" if origin == "mcp" else "ext"
    return t.ToolRef(origin=named, pattern=rest.strip(), span=span)


def table_rule(
    name: str,
    verdict: Verdict,
    tools: tuple[t.ToolRef, ...],
    *,
    excluded: tuple[t.ToolRef, ...] = (),
    asks: bool = False,
) -> t.Rule:
    """Return the rule of a key, with the span of the first of its tools."""
    span = tools[0].span
    return t.Rule(
        name=name,
        shadow=False,
        verdict=verdict,
        tools=t.Tools(included=tools, excluded=excluded, span=span),
        clauses=(t.WithApproval(span=span),) if asks else (),
        span=span,
    )


def asking(name: str, tool: t.ToolRef) -> Iterator[t.Rule]:
    """Yield the rules of a key with the value `ask`: an `allow` with approval.

    A wildcard of a granting rule does not cover tools of servers, and neither does one in the
    exceptions of a restricting rule. So the second rule covers exactly those tools, which need
    approval too.
    """
    yield table_rule(name, Verdict.ALLOW, (tool,), asks=True)
    if tool.origin is None and tool.pattern != "*" and any(c in tool.pattern for c in "*?"):
        yield table_rule(name, Verdict.ASK, (tool,), excluded=(tool,))
