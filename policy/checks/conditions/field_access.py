"""Field and element access: resolves it, with its type from the tools' schemas."""

from __future__ import annotations

from collections.abc import Mapping

from policy.catalog import Step as FieldStep
from policy.checks.checked import Constant, ElementAt, Fact, FieldOf, FunctionCall, Value
from policy.checks.conditions.fields import field_type, tool_names
from policy.checks.conditions.named_fields import check_named_field
from policy.checks.conditions.reader_state import BROKEN, PartReaders, StatementContext
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.conditions.value_types import ANY, list_of, type_of
from policy.checks.names.interpolation import interpolate
from policy.checks.names.references import fact_named, in_backticks, pack_value
from policy.diagnostics import Severity, did_you_mean
from policy.syntax import print_expr, tree

INPUT = Fact(path=("input",))


def read_field(
    expr: tree.Field | tree.Index, context: StatementContext, parts: PartReaders
) -> TypedValue:
    """Return the value of a field or an element, with its type from the schemas."""
    path = _plain_path(expr, context)
    if path is not None:
        return _input_field(path, expr, context)
    found = _walk(expr, context, parts)
    if found.path and context.tools is not None:
        shown = ".".join(["input", *(str(step) for step in found.path if step != "*")])
        declared = field_type(
            found.path, context.tools, context.report, shown=shown, span=expr.span
        )
        return TypedValue(value=found.value, type=declared, path=found.path)
    return found


def _plain_path(expr: tree.Expr, context: StatementContext) -> tuple[str, ...] | None:
    """Return the names of `input.a.b`, the usual form of a field, None for other forms."""
    steps: list[str] = []
    while type(expr) is tree.Field:
        steps.append(expr.name)
        expr = expr.base
    if type(expr) is not tree.Name or expr.name != "input" or "input" in context.locals:
        return None
    return tuple(reversed(steps)) if context.count(expr.span) else None


def _input_field(
    path: tuple[str, ...], expr: tree.Field | tree.Index, context: StatementContext
) -> TypedValue:
    """Return a field of the input; rules about tools with the same schemas share it."""
    check, tools = context.check, context.tools
    key = (0 if tools is None else id(tools.sight(check.sights)), path)
    kept = check.input_fields.get(key)
    if kept is not None:
        return kept
    value: Value = INPUT
    for name in path:
        value = check.steps.setdefault((id(value), name), FieldOf(base=value, name=name))
    if tools is None:
        return TypedValue(value=value, path=path)
    declared = field_type(
        path, tools, context.report, shown=".".join(("input", *path)), span=expr.span
    )
    found = TypedValue(value=value, type=declared, path=path)
    if not tools.answers(path).missing:
        check.input_fields[key] = found
    return found


def _walk(expr: tree.Expr, context: StatementContext, parts: PartReaders) -> TypedValue:
    match expr:
        case tree.Field():
            special = fact_named(expr, expr.name, context) or pack_value(expr, context, parts)
            if special is not None:
                return special
            return _step(_walk(expr.base, context, parts), expr.name, expr, context)
        case tree.Index(key=tree.Text() as key):
            name = interpolate(key.value, context.scope, context.report, span=key.span)
            special = fact_named(expr, name, context)
            if special is not None:
                return special
            return _step(_walk(expr.base, context, parts), name, expr, context)
        case tree.Index():
            return _element(expr, context, parts)
        case _:
            return parts.value(expr, context)


def _step(
    base: TypedValue, name: str, expr: tree.Field | tree.Index, context: StatementContext
) -> TypedValue:
    if base is BROKEN:
        return BROKEN
    # Of a call, perhaps: what is not known to be something else.
    context.reads_results |= name == "result" and base.path is None
    value = FieldOf(base=base.value, name=name)
    if base.path is not None:
        return TypedValue(value=value, path=(*base.path, name))
    if (found := _field_of(base, name, value)) is not None:
        _warn_of_lacking(base, name, expr, context)
        return found
    if (fields := base.type.object.fields) is not None:
        names = [field for field, _ in fields]
        context.report.add(
            "unknown-field",
            f"{_shown(base, expr)} has no field `{name}`",
            span=expr.span,
            help=did_you_mean(name, names) or f"it has {in_backticks(names)}",
        )
        return BROKEN
    if not base.type.may_be("object", "list"):
        context.report.add(
            "unknown-field",
            f"{base.type} has no field `{name}`",
            span=expr.span,
            help="remove this step of the path",
        )
        return BROKEN
    if isinstance(base.value, Constant) and isinstance(base.value.value, Mapping):
        held = base.value.value.get(name)
        return TypedValue(value=value, type=type_of(held))
    return TypedValue(value=value)


def _field_of(base: TypedValue, name: str, value: FieldOf) -> TypedValue | None:
    """Return the field of an object of known fields, or of each in a list of them."""
    declared = dict(base.type.object.fields or ()).get(name)
    if declared is None:
        return None
    return TypedValue(
        value=value, type=list_of(declared.element) if base.type.must_be("list") else declared
    )


def _warn_of_lacking(
    base: TypedValue, name: str, expr: tree.Field | tree.Index, context: StatementContext
) -> None:
    lacking = dict(base.type.object.lacking).get(name)
    if lacking is None:
        return
    context.report.add(
        "field-of-some",
        f"what {tool_names(list(lacking))} {'returns' if len(lacking) == 1 else 'return'} has no "
        f"field `{name}`",
        span=expr.span,
        help="name only tools that return the field, or use `is absent` where it may be missing",
        severity=Severity.WARNING,
    )


def _shown(base: TypedValue, expr: tree.Field | tree.Index) -> str:
    called = f"{base.value.function}(…)" if isinstance(base.value, FunctionCall) else None
    return f"`{called or print_expr(expr.base)}`"


def _element(expr: tree.Index, context: StatementContext, parts: PartReaders) -> TypedValue:
    base = _walk(expr.base, context, parts)
    key = parts.value(expr.key, context)
    if base is BROKEN or key is BROKEN:
        return BROKEN
    context.reads_results |= base.path is None
    value = ElementAt(base=base.value, key=key.value)
    if not key.type.may_be("number", "string"):
        context.report.add(
            "wrong-kind",
            f"{key.type} cannot select an element",
            span=expr.key.span,
            help="use a number from 0, or the name of a field in quotes",
        )
        return BROKEN
    if base.path is None:
        return TypedValue(value=value, type=base.type.item or ANY)
    if key.type.must_be("number"):
        at = key.value.value if isinstance(key.value, Constant) else None
        place: FieldStep = at if isinstance(at, int) and at >= 0 else "*"
        return TypedValue(value=value, path=(*base.path, place))
    if isinstance(key.value, Constant) and isinstance(key.value.value, str):
        check_named_field(expr.key, (*base.path, key.value.value), context)
    return TypedValue(value=value)
