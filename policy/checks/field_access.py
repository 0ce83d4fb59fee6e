"""A field or an element in; the value that it is, with its kind from the tools' schemas, out."""

from __future__ import annotations

from collections.abc import Mapping

from policy.catalog import Step as FieldStep
from policy.checks.checked import Apply, At, Constant, Fact, Step, Value
from policy.checks.fields import kind_of_field
from policy.checks.kinds import ANY, kind_of, list_of
from policy.checks.names import fact_of, of_pack, ticked
from policy.checks.reading import BROKEN, Parts, Reading
from policy.checks.texts import fill_in
from policy.checks.typed import Typed
from policy.diagnostics import did_you_mean
from policy.syntax import print_expr, tree

INPUT = Fact(path=("input",))


def read_field(expr: tree.Field | tree.Index, reading: Reading, parts: Parts) -> Typed:
    """Return the value of a field or an element, with its kind from the schemas."""
    path = _plain_path(expr, reading)
    if path is not None:
        return _input_field(path, expr, reading)
    found = _walk(expr, reading, parts)
    if found.path and reading.tools is not None:
        shown = ".".join(["input", *(str(step) for step in found.path if step != "*")])
        kind = kind_of_field(found.path, reading.tools, reading.report, shown=shown, span=expr.span)
        return Typed(value=found.value, kind=kind, path=found.path)
    return found


def _plain_path(expr: tree.Expr, reading: Reading) -> tuple[str, ...] | None:
    """Return the names of `input.a.b`, None for anything else; most fields are so written."""
    steps: list[str] = []
    while type(expr) is tree.Field:
        steps.append(expr.name)
        expr = expr.base
    if type(expr) is not tree.Name or expr.name != "input" or "input" in reading.locals:
        return None
    return tuple(reversed(steps)) if reading.count(expr.span) else None


def _input_field(path: tuple[str, ...], expr: tree.Field | tree.Index, reading: Reading) -> Typed:
    """Return a field of the input; rules about tools of the same sight share it."""
    world, tools = reading.world, reading.tools
    key = (0 if tools is None else id(tools.sight(world.sights)), path)
    kept = world.input_fields.get(key)
    if kept is not None:
        return kept
    value: Value = INPUT
    for name in path:
        value = world.steps.setdefault((id(value), name), Step(base=value, name=name))
    if tools is None:
        return Typed(value=value, path=path)
    kind = kind_of_field(
        path, tools, reading.report, shown=".".join(("input", *path)), span=expr.span
    )
    found = Typed(value=value, kind=kind, path=path)
    if not tools.answers(path).missing:
        world.input_fields[key] = found
    return found


def _walk(expr: tree.Expr, reading: Reading, parts: Parts) -> Typed:
    match expr:
        case tree.Field():
            special = fact_of(expr, expr.name, reading) or of_pack(expr, reading, parts)
            if special is not None:
                return special
            return _step(_walk(expr.base, reading, parts), expr.name, expr, reading)
        case tree.Index(key=tree.Text() as key):
            name = fill_in(key.value, reading.scope, reading.report, span=key.span)
            special = fact_of(expr, name, reading)
            if special is not None:
                return special
            return _step(_walk(expr.base, reading, parts), name, expr, reading)
        case tree.Index():
            return _element(expr, reading, parts)
        case _:
            return parts.value(expr, reading)


def _step(base: Typed, name: str, expr: tree.Field | tree.Index, reading: Reading) -> Typed:
    if base is BROKEN:
        return BROKEN
    value = Step(base=base.value, name=name)
    if base.path is not None:
        return Typed(value=value, path=(*base.path, name))
    if (found := _field_of(base, name, value)) is not None:
        return found
    if (fields := base.kind.element.fields) is not None:
        names = [field for field, _ in fields]
        reading.report.say(
            "unknown-field",
            f"{_shown(base, expr)} has no field `{name}`",
            span=expr.span,
            help=did_you_mean(name, names) or f"it has {ticked(names)}",
        )
        return BROKEN
    if not base.kind.may_be("object", "list"):
        reading.report.say(
            "unknown-field",
            f"{base.kind} has no field `{name}`",
            span=expr.span,
            help="remove the step",
        )
        return BROKEN
    if isinstance(base.value, Constant) and isinstance(base.value.value, Mapping):
        held = base.value.value.get(name)
        return Typed(value=value, kind=kind_of(held))
    return Typed(value=value)


def _field_of(base: Typed, name: str, value: Step) -> Typed | None:
    """Return the field of an object of known fields, or of each in a list of them."""
    kind = dict(base.kind.element.fields or ()).get(name)
    if kind is None:
        return None
    return Typed(value=value, kind=list_of([kind.element]) if base.kind.must_be("list") else kind)


def _shown(base: Typed, expr: tree.Field | tree.Index) -> str:
    called = f"{base.value.function}(…)" if isinstance(base.value, Apply) else None
    return f"`{called or print_expr(expr.base)}`"


def _element(expr: tree.Index, reading: Reading, parts: Parts) -> Typed:
    base = _walk(expr.base, reading, parts)
    key = parts.value(expr.key, reading)
    if base is BROKEN or key is BROKEN:
        return BROKEN
    value = At(base=base.value, key=key.value)
    if not key.kind.may_be("number", "text"):
        reading.report.say(
            "wrong-kind",
            f"{key.kind} cannot say which element is meant",
            span=expr.key.span,
            help="use a number from 0, or the name of a field in quotes",
        )
        return BROKEN
    if base.path is None:
        return Typed(value=value, kind=base.kind.item or ANY)
    if key.kind.must_be("number"):
        at = key.value.value if isinstance(key.value, Constant) else None
        place: FieldStep = at if isinstance(at, int) and at >= 0 else "*"
        return Typed(value=value, path=(*base.path, place))
    return Typed(value=value)
