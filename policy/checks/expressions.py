"""Value expressions in, resolved values with their kinds out: names, facts, fields, functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from policy import later
from policy.call import freeze
from policy.catalog import Step as FieldStep
from policy.checks.checked import (
    Apply,
    Arith,
    At,
    Constant,
    Fact,
    ListOf,
    Minus,
    ObjectOf,
    Selected,
    Step,
    Value,
)
from policy.checks.fields import kind_of_field
from policy.checks.kinds import (
    ANY,
    FACT_ROOTS,
    FACTS,
    FUNCTIONS,
    LATER_SELECTIONS,
    LIST,
    NUMBER,
    SELECTIONS,
    TEXT,
    TEXTS,
    TIME,
    Kind,
    Signature,
    arithmetic,
    kind_of,
    list_of,
    union,
)
from policy.checks.later import refuse
from policy.checks.reading import BROKEN, Reading, Typed
from policy.checks.scopes import HOST_WORDS, MAX_DEPTH, Definition, say_too_deep
from policy.checks.texts import constant_of, dotted, fill_in, number, span_of
from policy.diagnostics import Label, did_you_mean, nearest
from policy.source import Span
from policy.syntax import print_expr, tree
from policy.values import Unreadable, parse_date, parse_time

if TYPE_CHECKING:
    from policy.checks import sets
    from policy.checks.sql import check_sql
else:
    sets = later.module("policy.checks.sets")
    check_sql = later.function("policy.checks.sql", "check_sql")

_Result = TypeVar("_Result")

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

INPUT = Fact(path=("input",))

# Reads the test of a selection; conditions are read above values, so the reader is handed in.
TestReader = Callable[[tree.Expr, Reading], Any]


def read_value(expr: tree.Expr, reading: Reading, *, tests: TestReader) -> Typed:
    """Return the value that `expr` stands for, and its kind; what is wrong has been said."""
    if not reading.count(expr.span):
        return BROKEN
    reader = VALUES.get(type(expr))
    if reader is not None:
        return reader(expr, reading, tests)
    reading.report.say(
        "condition-as-value",
        f"`{print_expr(expr)}` is a condition, and a value is needed here",
        span=expr.span,
        help="conditions stand in `when` and `unless`, joined with `and`, `or` and `not`",
    )
    return BROKEN


def _literal(value: Any) -> Typed:
    return Typed(value=Constant(value=value), kind=kind_of(value))


def _shared(value: str | int, reading: Reading) -> Typed:
    """Return a text or a whole number; rules that hold the same one share it."""
    key = (type(value), value)
    found = reading.world.literals.get(key)
    if found is None:
        found = reading.world.literals[key] = _literal(value)
    return found


def _text(expr: tree.Text, reading: Reading, _: TestReader) -> Typed:
    text = expr.value
    if "${" in text:
        text = fill_in(text, reading.scope, reading.report, span=expr.span)
    return _shared(text, reading)


def _number(expr: tree.Number, reading: Reading, _: TestReader) -> Typed:
    held = number(expr, reading.report)
    return _shared(held, reading) if isinstance(held, int) else _literal(held)


def _duration(expr: tree.Duration, reading: Reading, _: TestReader) -> Typed:
    return _literal(span_of(expr, reading.report))


def _boolean(expr: tree.Boolean, reading: Reading, _: TestReader) -> Typed:
    return _shared(expr.value, reading)


def _null(_: tree.Null, __: Reading, ___: TestReader) -> Typed:
    return _literal(None)


def _history(expr: tree.History, reading: Reading, _: TestReader) -> Typed:
    refuse(f"`{expr.kind}(…)`", reading.report, span=expr.span)
    return BROKEN


def _list(expr: tree.ListLiteral, reading: Reading, tests: TestReader) -> Typed:
    items = [read_value(item, reading, tests=tests) for item in expr.items]
    kind = _kind_of_list([item.kind for item in items])
    if all(type(item.value) is Constant for item in items):
        values = tuple([cast("Constant", item.value).value for item in items])
        if kind is TEXTS:
            return reading.world.lists.setdefault(
                values, Typed(value=Constant(value=values), kind=kind)
            )
        return Typed(value=Constant(value=values), kind=kind)
    return Typed(value=ListOf(items=tuple([item.value for item in items])), kind=kind)


def _kind_of_list(kinds: list[Kind]) -> Kind:
    if kinds and all(kind is TEXT for kind in kinds):
        return TEXTS
    return list_of(kinds)


def _object(expr: tree.ObjectLiteral, reading: Reading, tests: TestReader) -> Typed:
    entries = [(key, read_value(v, reading, tests=tests).value) for key, v in expr.entries]
    if all(isinstance(value, Constant) for _, value in entries):
        return _literal(freeze({key: cast("Constant", value).value for key, value in entries}))
    return Typed(value=ObjectOf(entries=tuple(entries)), kind=Kind(frozenset({"object"})))


# ------------------------------------------------------------------ names

# The facts of the language as values, one for all rules.
_FACTS: Mapping[tuple[str, ...], Typed] = MappingProxyType(
    {
        path: Typed(value=Fact(path=path), kind=kind, path=() if path == ("input",) else None)
        for path, kind in FACTS.items()
    }
)


def _name(expr: tree.Name, reading: Reading, tests: TestReader) -> Typed:
    name = expr.name
    if name in reading.locals:
        return reading.locals[name]
    if (name,) in _FACTS:
        return _FACTS[(name,)]
    if name in FACT_ROOTS:
        names = _facts_below(name, reading)
        reading.report.say(
            "unknown-name",
            f"`{name}` alone is no value",
            span=expr.span,
            help=f"say which: {', '.join(f'`{name}.{n}`' for n in names)}" if names else "",
        )
        return BROKEN
    found = reading.scope.find(name)
    if found is None:
        _say_unknown(name, expr.span, reading)
        return BROKEN
    return _defined(found, expr, reading, tests)


def _say_unknown(name: str, span: Span, reading: Reading) -> None:
    if name in HOST_WORDS:
        message, help = (
            f"`{name}` is a word for hosts",
            "use it with `connects to`, or in a `hosts` set",
        )
    elif reading.scope.find_pack(name) is not None:
        message, help = f"`{name}` is a pack", f"name something of it: `{name}.NAME`"
    else:
        known = [*reading.scope.visible(), *reading.locals, *FACT_ROOTS]
        message = f"nothing is called `{name}`"
        help = did_you_mean(name, known) or "define it with `let`, or write a text in quotes"
    reading.report.say("unknown-name", message, span=span, help=help)


def _defined(
    found: Definition, expr: tree.Name | tree.Field, reading: Reading, tests: TestReader
) -> Typed:
    """Return the value of a `let`, a parameter or a data table."""
    node = found.node
    match node:
        case tree.Let():
            return inline(
                found,
                expr.span,
                reading,
                lambda inner: read_value(inner, reading, tests=tests),
                broken=BROKEN,
            )
        case tree.DataTable():
            value = sets.data_at(node.file, node.key, node.span, reading.world)
            return BROKEN if value is sets.MISSING else _literal(freeze(value))
        case tree.Param() if node.kind in ("string", "number", "span", "path", "host"):
            return _literal(constant_of(found, reading.report))
        case _:
            what = "`tools`" if isinstance(node, tree.ToolSet) else f"`{node.kind}`"
            reading.report.say(
                "set-as-value",
                f"`{node.name}` is a set of {what}, and a single value is needed here",
                span=expr.span,
                labels=(Label(span=found.span, text="defined here"),),
                help="use a set after `in`, or after a verb such as `reads`",
            )
            return BROKEN


@contextmanager
def inside(found: Definition, reading: Reading) -> Iterator[None]:
    """Read a `let` where it was defined: its own scope, none of the variables around its use."""
    assert isinstance(found.node, tree.Let)
    outer = reading.scope, reading.locals, reading.lets
    reading.scope, reading.locals = found.scope, {}
    reading.lets = (*reading.lets, found.node)
    try:
        yield
    finally:
        reading.scope, reading.locals, reading.lets = outer


def inline(
    found: Definition,
    span: Span,
    reading: Reading,
    read: Callable[[tree.Expr], _Result],
    *,
    broken: _Result,
) -> _Result:
    """Read what a `let` stands for in its place; a `let` that needs itself is refused."""
    node = found.node
    assert isinstance(node, tree.Let)
    if any(outer is node for outer in reading.lets):
        start = next(i for i, outer in enumerate(reading.lets) if outer is node)
        lets = reading.lets[start:]
        # Told from its first `let` on, whichever of them was being read.
        first = min(range(len(lets)), key=lambda i: lets[i].span.start)
        chain = (*lets[first:], *lets[: first + 1])
        reading.report.say(
            "name-cycle",
            f"a `let` that needs itself: {' → '.join(f'`{let.name}`' for let in chain)}",
            span=chain[0].span,
            help="write one of them without the others",
        )
        return broken
    if len(reading.lets) >= MAX_DEPTH:
        say_too_deep(found, reading.report)
        return broken
    if not reading.count(span):
        return broken
    with inside(found, reading):
        return read(node.value)


# ------------------------------------------------------------------ fields


def _access(expr: tree.Field | tree.Index, reading: Reading, tests: TestReader) -> Typed:
    """Return the value of a field or an element, with its kind from the schemas."""
    path = _plain_path(expr, reading)
    if path is not None:
        return _input_field(path, expr, reading)
    found = _walk(expr, reading, tests)
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


def _walk(expr: tree.Expr, reading: Reading, tests: TestReader) -> Typed:
    match expr:
        case tree.Field():
            special = _fact(expr, expr.name, reading) or _of_pack(expr, reading, tests)
            if special is not None:
                return special
            return _step(_walk(expr.base, reading, tests), expr.name, expr, reading)
        case tree.Index(key=tree.Text() as key):
            name = fill_in(key.value, reading.scope, reading.report, span=key.span)
            special = _fact(expr, name, reading)
            if special is not None:
                return special
            return _step(_walk(expr.base, reading, tests), name, expr, reading)
        case tree.Index():
            return _element(expr, reading, tests)
        case _:
            return read_value(expr, reading, tests=tests)


def _fact(expr: tree.Field | tree.Index, name: str, reading: Reading) -> Typed | None:
    """Return the fact that `root.name` is, None where it is something else."""
    base = expr.base
    if not isinstance(base, tree.Name) or base.name in reading.locals:
        return None
    root = base.name
    if root not in FACT_ROOTS or (root,) in FACTS:
        return None
    if root == "context" and name in reading.world.context:
        return Typed(value=Fact(path=(root, name)), kind=reading.world.context[name])
    if (root, name) in _FACTS:
        return _FACTS[(root, name)]
    names = _facts_below(root, reading)
    undeclared = "declare it in `placet.toml` under `[context]`" if root == "context" else ""
    reading.report.say(
        "unknown-fact",
        f"there is no fact `{root}.{name}`",
        span=expr.span,
        help=_meant(root, name, names) or undeclared or f"`{root}` has {_ticked(names)}",
    )
    return BROKEN


def _meant(root: str, name: str, names: list[str]) -> str:
    near = nearest(name, names)
    return f"did you mean `{root}.{near}`?" if near else ""


def _ticked(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _facts_below(root: str, reading: Reading) -> list[str]:
    if root == "context":
        return sorted(reading.world.context)
    return [path[1] for path in FACTS if path[0] == root and len(path) == 2]


def _of_pack(expr: tree.Field, reading: Reading, tests: TestReader) -> Typed | None:
    """Return the value of `ALIAS.name`, None where the base is no pack."""
    name = dotted(expr)
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
        return _defined(found, expr, reading, tests)
    inner = dotted(expr.base)
    if inner is not None and "." in inner and reading.scope.find(inner) is not None:
        return None
    if expr.name in pack.packs:
        return None
    known = [f"{head}.{n}" for n in pack.visible()]
    reading.report.say(
        "unknown-name",
        f"nothing is called `{name}`",
        span=expr.span,
        help=did_you_mean(name, known) or f"the pack has {_ticked(known)}" if known else "",
    )
    return BROKEN


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
            help=did_you_mean(name, names) or f"it has {_ticked(names)}",
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


def _element(expr: tree.Index, reading: Reading, tests: TestReader) -> Typed:
    base = _walk(expr.base, reading, tests)
    key = read_value(expr.key, reading, tests=tests)
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


# ------------------------------------------------------------------ functions


def _function(expr: tree.Function, reading: Reading, tests: TestReader) -> Typed:
    name = expr.name
    signature = FUNCTIONS.get(name)
    if signature is None:
        is_selection = name in SELECTIONS or name in LATER_SELECTIONS
        reading.report.say(
            "unknown-function",
            f"there is no function `{name}`" if not is_selection else f"`{name}` selects",
            span=expr.span,
            help=f"write `{name}(x in LIST: …)`"
            if is_selection
            else did_you_mean(name, [*FUNCTIONS, *SELECTIONS])
            or f"there are {_ticked([*FUNCTIONS])}",
        )
        return BROKEN
    args = [read_value(arg, reading, tests=tests) for arg in expr.args]
    if not _fits(expr, signature, args, reading):
        return BROKEN
    value = Apply(function=name, args=tuple(arg.value for arg in args))
    return Typed(value=value, kind=_result(name, signature, args))


def _fits(expr: tree.Function, signature: Signature, args: list[Typed], reading: Reading) -> bool:
    """Tell whether the arguments are right in number and kind; say what is wrong."""
    least, most = len(signature.takes), signature.most
    if len(args) < least or (most is not None and len(args) > most):
        reading.report.say(
            "wrong-arguments",
            f"`{expr.name}` takes {_how_many(least, most)}, not {len(args)}",
            span=expr.span,
            help="`placet check --explain wrong-arguments` shows it with the right ones",
        )
        return False
    fine = True
    for place, (arg, node) in enumerate(zip(args, expr.args, strict=True)):
        expected = signature.expects(place)
        if expected is not None and expected.names and not arg.kind.may_be(*expected.names):
            reading.report.say(
                "wrong-kind",
                f"`{expr.name}` takes {expected} here, not {arg.kind}",
                span=node.span,
                help="give it a value of that kind",
            )
            fine = False
    if fine and expr.name == "sql":
        return check_sql(expr, args, reading)
    return fine and _readable(expr, args, reading)


def _how_many(least: int, most: int | None) -> str:
    number = f"{least} or {most}" if most is not None and most > least else str(least)
    number = number if most is not None else f"at least {number}"
    return f"{number} {'value' if number.endswith('1') else 'values'}"


def _readable(expr: tree.Function, args: list[Typed], reading: Reading) -> bool:
    """Tell whether the written argument of `time` or `date` is one."""
    reader = {"time": parse_time, "date": parse_date}.get(expr.name)
    first = args[0].value
    if reader is None or not isinstance(first, Constant) or not isinstance(first.value, str):
        return True
    found = reader(first.value)
    if expr.name == "date" and isinstance(found, Unreadable):
        found = parse_time(first.value)
    if not isinstance(found, Unreadable):
        return True
    reading.report.say(
        "bad-time",
        found.reason,
        span=expr.args[0].span,
        help='write `date("2026-03-01")` or `time("2026-03-01T08:00:00Z")`',
    )
    return False


def _result(name: str, signature: Signature, args: list[Typed]) -> Kind:
    match name:
        case "first_present":
            return union(arg.kind for arg in args) or ANY
        # The day of a time is a text such as 2026-03-01; a written date is its first moment.
        case "date" if args[0].kind.must_be("time"):
            return TEXT
        case "date" if args[0].kind.must_be("text"):
            return TIME
        case _:
            return signature.gives


def _selection(expr: tree.Selection, reading: Reading, tests: TestReader) -> Typed:
    name = expr.function
    if name in LATER_SELECTIONS:
        refuse(f"`{name}(…)`", reading.report, span=expr.span)
        return BROKEN
    if name not in SELECTIONS:
        reading.report.say(
            "unknown-function",
            f"there is no selection `{name}`",
            span=expr.span,
            help=did_you_mean(name, SELECTIONS) or f"there are {_ticked(sorted(SELECTIONS))}",
        )
        return BROKEN
    source = read_value(expr.source, reading, tests=tests)
    outer, reading.selecting = reading.selecting, True
    try:
        with reading.variable(expr.variable, expr.index, source=source, span=expr.span) as slots:
            test = (
                _summand(expr.test, reading, tests) if name == "sum" else tests(expr.test, reading)
            )
    finally:
        reading.selecting = outer
    value = Selected(
        function=name, slot=slots[0], index_slot=slots[1], source=source.value, test=test
    )
    match name:
        case "count" | "sum":
            return Typed(value=value, kind=NUMBER)
        case "first":
            path = None if source.path is None else (*source.path, "*")
            return Typed(value=value, kind=source.kind.element, path=path)
        case _:
            kind = source.kind if source.kind.must_be("list") else LIST
            return Typed(value=value, kind=kind, path=source.path)


def _summand(expr: tree.Expr, reading: Reading, tests: TestReader) -> Value:
    found = read_value(expr, reading, tests=tests)
    if not found.kind.may_be("number", "span"):
        reading.report.say(
            "wrong-kind",
            f"{found.kind} cannot be added up",
            span=expr.span,
            help="`sum(x in LIST: …)` adds numbers",
        )
    return found.value


# ------------------------------------------------------------------ arithmetic


def _arithmetic(expr: tree.Arithmetic, reading: Reading, tests: TestReader) -> Typed:
    left = read_value(expr.left, reading, tests=tests)
    right = read_value(expr.right, reading, tests=tests)
    kind = arithmetic(expr.op, left.kind, right.kind)
    if kind is None:
        reading.report.say(
            "wrong-kind",
            f"`{expr.op}` does not combine {left.kind} and {right.kind}",
            span=expr.span,
            help="`+ - *` are for numbers, times and spans",
        )
        return BROKEN
    return Typed(value=Arith(op=expr.op, left=left.value, right=right.value), kind=kind)


def _negate(expr: tree.Negate, reading: Reading, tests: TestReader) -> Typed:
    operand = read_value(expr.operand, reading, tests=tests)
    if isinstance(operand.value, Constant) and operand.kind.must_be("number", "span"):
        return _literal(-operand.value.value)
    if not operand.kind.may_be("number", "span"):
        reading.report.say(
            "wrong-kind",
            f"`-` before {operand.kind}",
            span=expr.span,
            help="`-` is for numbers and spans",
        )
        return BROKEN
    return Typed(value=Minus(operand=operand.value), kind=operand.kind)


# How each node is read that stands for a value; the others are conditions.
VALUES: Mapping[type, Callable[[Any, Reading, TestReader], Typed]] = MappingProxyType(
    {
        tree.Text: _text,
        tree.Number: _number,
        tree.Duration: _duration,
        tree.Boolean: _boolean,
        tree.Null: _null,
        tree.ListLiteral: _list,
        tree.ObjectLiteral: _object,
        tree.Name: _name,
        tree.Field: _access,
        tree.Index: _access,
        tree.Function: _function,
        tree.Selection: _selection,
        tree.History: _history,
        tree.Arithmetic: _arithmetic,
        tree.Negate: _negate,
    }
)
