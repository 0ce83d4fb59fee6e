"""What a name in a condition refers to: a fact, a `let`, a parameter or data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TypeVar

from policy.checks.checked import Fact
from policy.checks.conditions.fields import ToolFields, named_fields
from policy.checks.conditions.reader_state import BROKEN, PartReaders, StatementContext
from policy.checks.conditions.typed_value import TypedValue, literal
from policy.checks.conditions.value_types import FACT_ROOTS, FACTS
from policy.checks.names import sets
from policy.checks.names.interpolation import constant_named, dotted_name
from policy.checks.names.name_hints import hint_for_fact, hint_for_name
from policy.checks.names.scopes import HOST_WORDS, MAX_DEPTH, Definition, report_too_deep
from policy.diagnostics import Label, did_you_mean, nearest
from policy.model import Span, freeze
from policy.syntax import tree

_Result = TypeVar("_Result")

_MOST_FIELDS = 5  # that a message lists

# The facts of the language as values, one for all rules.
_FACTS: Mapping[tuple[str, ...], TypedValue] = MappingProxyType(
    {
        path: TypedValue(value=Fact(path=path), type=kind, path=() if path == ("input",) else None)
        for path, kind in FACTS.items()
    }
)


def read_name(expr: tree.Name, context: StatementContext, parts: PartReaders) -> TypedValue:
    """Return the value of a name."""
    name = expr.name
    if name in context.locals:
        return context.locals[name]
    if (name,) in _FACTS:
        return _FACTS[(name,)]
    if name in FACT_ROOTS:
        names = _facts_below(name, context)
        context.report.add(
            "unknown-name",
            f"`{name}` alone is not a value",
            span=expr.span,
            help=f"write one of its fields: {', '.join(f'`{name}.{n}`' for n in names)}"
            if names
            else "",
        )
        return BROKEN
    found = context.scope.find(name)
    if found is None:
        if context.scope.is_broken(name):
            context.report.excuse()
        else:
            _report_unknown(name, expr.span, context)
        return BROKEN
    return _defined(found, expr, context, parts)


def _report_unknown(name: str, span: Span, context: StatementContext) -> None:
    if name in HOST_WORDS:
        message, help = (
            f"`{name}` is a keyword for hosts",
            "use it with `connects to`, or in a `hosts` set",
        )
    elif context.scope.find_pack(name) is not None:
        message, help = f"`{name}` is a pack", f"write a name of the pack: `{name}.NAME`"
    else:
        known = [*context.scope.visible(), *context.locals, *FACT_ROOTS, "true", "false"]
        message = f"unknown name `{name}`"
        help = (
            hint_for_name(name, context.tools, context.check.catalog)
            or did_you_mean(name, known)
            or _what_else(name, context.tools)
        )
    context.report.add("unknown-name", message, span=span, help=help)


def _what_else(name: str, tools: ToolFields | None) -> str:
    """Return help about a name that resembles no other."""
    quoted = f'write a string in quotes: `"{name}"`'
    if tools is None or tools.everything:
        return f"define it with `let`, or {quoted}"
    known = named_fields(tools)
    if known is None:
        return f'a field of the call is written `input.{name}`, a string in quotes: `"{name}"`'
    if not 0 < len(known) <= _MOST_FIELDS:
        return f"define it with `let`, or {quoted}"
    fields = ", ".join(f"`input.{field}`" for field in known)
    return f"define it with `let`, or {quoted}; the fields of these calls are {fields}"


def _defined(
    found: Definition, expr: tree.Name | tree.Field, context: StatementContext, parts: PartReaders
) -> TypedValue:
    """Return the value of a `let`, a parameter or a data table."""
    node = found.node
    match node:
        case tree.Let():
            return inline_let(
                found,
                expr.span,
                context,
                lambda inner: parts.value(inner, context),
                broken=BROKEN,
            )
        case tree.DataTable():
            value = sets.data_value(node.file, node.key, node.span, context.check)
            return BROKEN if value is sets.MISSING else literal(freeze(value))
        case tree.Param() if node.kind in ("string", "number", "duration", "path", "host"):
            return literal(constant_named(found, context.report))
        case _:
            what = "`tools`" if isinstance(node, tree.ToolSet) else f"`{node.kind}`"
            context.report.add(
                "set-as-value",
                f"`{node.name}` is a set of {what}, but a single value is needed here",
                span=expr.span,
                labels=(Label(span=found.span, text="defined here"),),
                help=f"write `in {node.name}`, or use the set after a verb such as `reads`; "
                "several sets are listed in brackets: `reads [a, b]`",
            )
            return BROKEN


@contextmanager
def read_definition(found: Definition, context: StatementContext) -> Iterator[None]:
    """Read a `let` in the scope of its definition, without the variables around its use."""
    assert isinstance(found.node, tree.Let)
    outer = context.scope, context.locals, context.lets
    context.scope, context.locals = found.scope, {}
    context.lets = (*context.lets, found.node)
    try:
        yield
    finally:
        context.scope, context.locals, context.lets = outer


def inline_let(
    found: Definition,
    span: Span,
    context: StatementContext,
    read: Callable[[tree.Expr], _Result],
    *,
    broken: _Result,
) -> _Result:
    """Inline a `let`; one that refers to itself is an error."""
    node = found.node
    assert isinstance(node, tree.Let)
    if any(outer is node for outer in context.lets):
        start = next(i for i, outer in enumerate(context.lets) if outer is node)
        lets = context.lets[start:]
        # Reported from the first `let` of the cycle on, whichever was read first.
        first = min(range(len(lets)), key=lambda i: lets[i].span.start)
        chain = (*lets[first:], *lets[: first + 1])
        context.report.add(
            "name-cycle",
            f"a `let` that refers to itself: {' → '.join(f'`{let.name}`' for let in chain)}",
            span=chain[0].span,
            help="define one of them without the others",
        )
        return broken
    if len(context.lets) >= MAX_DEPTH:
        report_too_deep(found, context.report)
        return broken
    if not context.count(span):
        return broken
    with read_definition(found, context):
        return read(node.value)


def fact_named(
    expr: tree.Field | tree.Index, name: str, context: StatementContext
) -> TypedValue | None:
    """Return the fact `root.name`, None if it is something else."""
    base = expr.base
    if not isinstance(base, tree.Name) or base.name in context.locals:
        return None
    root = base.name
    if root not in FACT_ROOTS or (root,) in FACTS:
        return None
    if root == "context" and name in context.check.context:
        return TypedValue(value=Fact(path=(root, name)), type=context.check.context[name])
    if (root, name) in _FACTS:
        return _FACTS[(root, name)]
    names = _facts_below(root, context)
    undeclared = "declare it in `placet.toml` under `[context]`" if root == "context" else ""
    context.report.add(
        "unknown-fact",
        f"unknown fact `{root}.{name}`",
        span=expr.span,
        help=_meant(root, name, names)
        or hint_for_fact(f"{root}.{name}")
        or undeclared
        or f"`{root}` has {in_backticks(names)}",
    )
    return BROKEN


def _meant(root: str, name: str, names: list[str]) -> str:
    near = nearest(name, names)
    return f"did you mean `{root}.{near}`?" if near else ""


def in_backticks(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def _facts_below(root: str, context: StatementContext) -> list[str]:
    if root == "context":
        return sorted(context.check.context)
    return [path[1] for path in FACTS if path[0] == root and len(path) == 2]


def pack_value(
    expr: tree.Field, context: StatementContext, parts: PartReaders
) -> TypedValue | None:
    """Return the value of `ALIAS.name`, None if the base is not a pack."""
    name = dotted_name(expr)
    if name is None:
        return None
    head = name.partition(".")[0]
    if head in context.locals or head in FACT_ROOTS or context.scope.find(head) is not None:
        return None
    pack = context.scope.find_pack(head)
    if pack is None:
        return None
    found = context.scope.find(name)
    if found is not None:
        return _defined(found, expr, context, parts)
    inner = dotted_name(expr.base)
    if inner is not None and "." in inner and context.scope.find(inner) is not None:
        return None
    if expr.name in pack.packs:
        return None
    if context.scope.is_broken(name):
        context.report.excuse()
        return BROKEN
    known = [f"{head}.{n}" for n in pack.visible()]
    context.report.add(
        "unknown-name",
        f"unknown name `{name}`",
        span=expr.span,
        help=did_you_mean(name, known) or f"the pack has {in_backticks(known)}" if known else "",
    )
    return BROKEN
