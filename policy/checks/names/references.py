"""What a name in a condition refers to: a fact, a `let`, a parameter or data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TypeVar

from policy.checks.checked import Fact
from policy.checks.conditions.reader_state import BROKEN, PartReaders, StatementContext
from policy.checks.conditions.typed_value import TypedValue, literal
from policy.checks.conditions.value_types import FACT_ROOTS, FACTS
from policy.checks.names import sets
from policy.checks.names.interpolation import constant_named, dotted_name
from policy.checks.names.scopes import HOST_WORDS, MAX_DEPTH, Definition, report_too_deep
from policy.diagnostics import Label, did_you_mean, nearest
from policy.model import Span, freeze
from policy.syntax import tree

_Result = TypeVar("_Result")

# The facts of the language as values, one for all rules.
_FACTS: Mapping[tuple[str, ...], TypedValue] = MappingProxyType(
    {
        path: TypedValue(value=Fact(path=path), kind=kind, path=() if path == ("input",) else None)
        for path, kind in FACTS.items()
    }
)


def read_name(expr: tree.Name, reading: StatementContext, parts: PartReaders) -> TypedValue:
    """Return the value of a name."""
    name = expr.name
    if name in reading.locals:
        return reading.locals[name]
    if (name,) in _FACTS:
        return _FACTS[(name,)]
    if name in FACT_ROOTS:
        names = _facts_below(name, reading)
        reading.report.say(
            "unknown-name",
            f"`{name}` alone is not a value",
            span=expr.span,
            help=f"write one of its fields: {', '.join(f'`{name}.{n}`' for n in names)}"
            if names
            else "",
        )
        return BROKEN
    found = reading.scope.find(name)
    if found is None:
        if reading.scope.is_broken(name):
            reading.report.excuse()
        else:
            _say_unknown(name, expr.span, reading)
        return BROKEN
    return _defined(found, expr, reading, parts)


def _say_unknown(name: str, span: Span, reading: StatementContext) -> None:
    if name in HOST_WORDS:
        message, help = (
            f"`{name}` is a keyword for hosts",
            "use it with `connects to`, or in a `hosts` set",
        )
    elif reading.scope.find_pack(name) is not None:
        message, help = f"`{name}` is a pack", f"write a name of the pack: `{name}.NAME`"
    else:
        known = [*reading.scope.visible(), *reading.locals, *FACT_ROOTS]
        message = f"unknown name `{name}`"
        help = did_you_mean(name, known) or "define it with `let`, or write a string in quotes"
    reading.report.say("unknown-name", message, span=span, help=help)


def _defined(
    found: Definition, expr: tree.Name | tree.Field, reading: StatementContext, parts: PartReaders
) -> TypedValue:
    """Return the value of a `let`, a parameter or a data table."""
    node = found.node
    match node:
        case tree.Let():
            return inline_let(
                found,
                expr.span,
                reading,
                lambda inner: parts.value(inner, reading),
                broken=BROKEN,
            )
        case tree.DataTable():
            value = sets.data_value(node.file, node.key, node.span, reading.world)
            return BROKEN if value is sets.MISSING else literal(freeze(value))
        case tree.Param() if node.kind in ("string", "number", "duration", "path", "host"):
            return literal(constant_named(found, reading.report))
        case _:
            what = "`tools`" if isinstance(node, tree.ToolSet) else f"`{node.kind}`"
            reading.report.say(
                "set-as-value",
                f"`{node.name}` is a set of {what}, but a single value is needed here",
                span=expr.span,
                labels=(Label(span=found.span, text="defined here"),),
                help="use a set after `in`, or after a verb such as `reads`",
            )
            return BROKEN


@contextmanager
def read_definition(found: Definition, reading: StatementContext) -> Iterator[None]:
    """Read a `let` in the scope of its definition, without the variables around its use."""
    assert isinstance(found.node, tree.Let)
    outer = reading.scope, reading.locals, reading.lets
    reading.scope, reading.locals = found.scope, {}
    reading.lets = (*reading.lets, found.node)
    try:
        yield
    finally:
        reading.scope, reading.locals, reading.lets = outer


def inline_let(
    found: Definition,
    span: Span,
    reading: StatementContext,
    read: Callable[[tree.Expr], _Result],
    *,
    broken: _Result,
) -> _Result:
    """Inline a `let`; one that refers to itself is an error."""
    node = found.node
    assert isinstance(node, tree.Let)
    if any(outer is node for outer in reading.lets):
        start = next(i for i, outer in enumerate(reading.lets) if outer is node)
        lets = reading.lets[start:]
        # Reported from the first `let` of the cycle on, whichever was read first.
        first = min(range(len(lets)), key=lambda i: lets[i].span.start)
        chain = (*lets[first:], *lets[: first + 1])
        reading.report.say(
            "name-cycle",
            f"a `let` that refers to itself: {' → '.join(f'`{let.name}`' for let in chain)}",
            span=chain[0].span,
            help="define one of them without the others",
        )
        return broken
    if len(reading.lets) >= MAX_DEPTH:
        report_too_deep(found, reading.report)
        return broken
    if not reading.count(span):
        return broken
    with read_definition(found, reading):
        return read(node.value)


def fact_named(
    expr: tree.Field | tree.Index, name: str, reading: StatementContext
) -> TypedValue | None:
    """Return the fact `root.name`, None if it is something else."""
    base = expr.base
    if not isinstance(base, tree.Name) or base.name in reading.locals:
        return None
    root = base.name
    if root not in FACT_ROOTS or (root,) in FACTS:
        return None
    if root == "context" and name in reading.world.context:
        return TypedValue(value=Fact(path=(root, name)), kind=reading.world.context[name])
    if (root, name) in _FACTS:
        return _FACTS[(root, name)]
    names = _facts_below(root, reading)
    undeclared = "declare it in `placet.toml` under `[context]`" if root == "context" else ""
    reading.report.say(
        "unknown-fact",
        f"unknown fact `{root}.{name}`",
        span=expr.span,
        help=_meant(root, name, names) or undeclared or f"`{root}` has {in_backticks(names)}",
    )
    return BROKEN


def _meant(root: str, name: str, names: list[str]) -> str:
    near = nearest(name, names)
    return f"did you mean `{root}.{near}`?" if near else ""


def in_backticks(names: list[str]) -> str:
    """Return names as a list in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def _facts_below(root: str, reading: StatementContext) -> list[str]:
    if root == "context":
        return sorted(reading.world.context)
    return [path[1] for path in FACTS if path[0] == root and len(path) == 2]


def pack_value(
    expr: tree.Field, reading: StatementContext, parts: PartReaders
) -> TypedValue | None:
    """Return the value of `ALIAS.name`, None where the base is no pack."""
    name = dotted_name(expr)
    if name is None:
        return None
    head = name.partition(".")[0]
    if head in reading.locals or head in FACT_ROOTS or reading.scope.find(head) is not None:
        return None
    pack = reading.scope.find_pack(head)
    if pack is None:
        return None
    found = reading.scope.find(name)
    if found is not None:
        return _defined(found, expr, reading, parts)
    inner = dotted_name(expr.base)
    if inner is not None and "." in inner and reading.scope.find(inner) is not None:
        return None
    if expr.name in pack.packs:
        return None
    if reading.scope.is_broken(name):
        reading.report.excuse()
        return BROKEN
    known = [f"{head}.{n}" for n in pack.visible()]
    reading.report.say(
        "unknown-name",
        f"unknown name `{name}`",
        span=expr.span,
        help=did_you_mean(name, known) or f"the pack has {in_backticks(known)}" if known else "",
    )
    return BROKEN
