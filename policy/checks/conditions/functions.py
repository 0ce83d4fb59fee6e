"""Functions, selections and arithmetic: resolves them, with the type of the result."""

from __future__ import annotations

from policy.checks.checked import Arithmetic, Constant, FunctionCall, Negative, Selected, Value
from policy.checks.conditions.missing_unit import missing_unit
from policy.checks.conditions.reader_state import BROKEN, PartReaders, StatementContext
from policy.checks.conditions.sql import check_sql
from policy.checks.conditions.typed_value import TypedValue, literal
from policy.checks.conditions.value_types import (
    ANY,
    FUNCTIONS,
    LIST,
    NUMBER,
    SELECTIONS,
    STRING,
    TIME,
    Signature,
    ValueType,
    arithmetic_type,
    union_type,
)
from policy.checks.names.references import in_backticks
from policy.diagnostics import did_you_mean
from policy.syntax import tree
from policy.values import Unreadable, parse_date, parse_time


def read_function(expr: tree.Function, context: StatementContext, parts: PartReaders) -> TypedValue:
    """Return a function call, with its type."""
    name = expr.name
    signature = FUNCTIONS.get(name)
    if signature is None:
        is_selection = name in SELECTIONS
        context.report.add(
            "unknown-function",
            f"there is no function `{name}`" if not is_selection else f"`{name}` is a selection",
            span=expr.span,
            help=f"write `{name}(x in LIST: …)`"
            if is_selection
            else _function_elsewhere(name)
            or did_you_mean(name, [*FUNCTIONS, *SELECTIONS])
            or f"there are {in_backticks([*FUNCTIONS])}",
        )
        return BROKEN
    args = [parts.value(arg, context) for arg in expr.args]
    if not _matches(expr, signature, args, context):
        return BROKEN
    value = FunctionCall(function=name, args=tuple(arg.value for arg in args))
    return TypedValue(value=value, type=_result(name, signature, args))


# Functions of other languages, and what is written here.
_ELSEWHERE = {
    "len": "length(a)",
    "size": "length(a)",
    "strlen": "length(a)",
    "now": "now",
    "startswith": "a starts with b",
    "starts_with": "a starts with b",
    "endswith": "a ends with b",
    "ends_with": "a ends with b",
    "contains": "a contains b",
    "includes": "a contains b",
    "matches": "a matches /…/",
    "match": "a matches /…/",
    "regex": "a matches /…/",
    "exists": "a is present",
    "isset": "a is present",
    "defined": "a is present",
    "is_null": "a is absent",
    "any": "any x in LIST: …",
    "all": "all x in LIST: …",
    "split": "words(a, 1)",
    "parse_url": "url(a)",
    "urlparse": "url(a)",
}


def _function_elsewhere(name: str) -> str:
    written = _ELSEWHERE.get(name.lower())
    return f"write `{written}`" if written else ""


def _matches(
    expr: tree.Function, signature: Signature, args: list[TypedValue], context: StatementContext
) -> bool:
    """Return whether the number and types of the arguments are right; report if not."""
    least, most = len(signature.parameters), signature.most
    if len(args) < least or (most is not None and len(args) > most):
        context.report.add(
            "wrong-arguments",
            f"`{expr.name}` takes {_how_many(least, most)}, not {len(args)}",
            span=expr.span,
            help="run `placet check --explain wrong-arguments` for examples",
        )
        return False
    fine = True
    for place, (arg, node) in enumerate(zip(args, expr.args, strict=True)):
        expected = signature.expects(place)
        if expected is not None and expected.names and not arg.type.may_be(*expected.names):
            context.report.add(
                "wrong-kind",
                f"`{expr.name}` takes {expected} here, not {arg.type}",
                span=node.span,
                help="use a value of that type",
            )
            fine = False
    if fine and expr.name == "sql":
        return check_sql(expr, args, context)
    return fine and _readable(expr, args, context)


def _how_many(least: int, most: int | None) -> str:
    number = f"{least} or {most}" if most is not None and most > least else str(least)
    number = number if most is not None else f"at least {number}"
    return f"{number} {'value' if number.endswith('1') else 'values'}"


def _readable(expr: tree.Function, args: list[TypedValue], context: StatementContext) -> bool:
    """Return whether a literal argument of `time` or `date` is valid."""
    reader = {"time": parse_time, "date": parse_date}.get(expr.name)
    first = args[0].value
    if reader is None or not isinstance(first, Constant) or not isinstance(first.value, str):
        return True
    found = reader(first.value)
    if expr.name == "date" and isinstance(found, Unreadable):
        found = parse_time(first.value)
    if not isinstance(found, Unreadable):
        return True
    context.report.add(
        "bad-time",
        found.reason,
        span=expr.args[0].span,
        help='write `date("2026-03-01")` or `time("2026-03-01T08:00:00Z")`',
    )
    return False


def _result(name: str, signature: Signature, args: list[TypedValue]) -> ValueType:
    match name:
        case "first_present":
            return union_type(arg.type for arg in args) or ANY
        # The date of a time is a string such as 2026-03-01; a literal date is its first moment.
        case "date" if args[0].type.must_be("time"):
            return STRING
        case "date" if args[0].type.must_be("string"):
            return TIME
        case _:
            return signature.result


def read_selection(
    expr: tree.Selection, context: StatementContext, parts: PartReaders
) -> TypedValue:
    """Return a selection from a list, or a count or sum over it."""
    name = expr.function
    if name not in SELECTIONS:
        context.report.add(
            "unknown-function",
            f"there is no selection `{name}`",
            span=expr.span,
            help=did_you_mean(name, SELECTIONS) or f"there are {in_backticks(sorted(SELECTIONS))}",
        )
        return BROKEN
    source = parts.value(expr.source, context)
    outer, context.selecting = context.selecting, True
    try:
        with context.variable(expr.variable, expr.index, source=source, span=expr.span) as slots:
            test = (
                _summand(expr.test, context, parts)
                if name == "sum"
                else parts.test(expr.test, context)
            )
    finally:
        context.selecting = outer
    value = Selected(
        function=name, slot=slots[0], index_slot=slots[1], source=source.value, test=test
    )
    match name:
        case "count" | "sum":
            return TypedValue(value=value, type=NUMBER)
        case "first" | "latest":
            path = None if source.path is None else (*source.path, "*")
            return TypedValue(value=value, type=source.type.element, path=path)
        case _:
            result = source.type if source.type.must_be("list") else LIST
            return TypedValue(value=value, type=result, path=source.path)


def _summand(expr: tree.Expr, context: StatementContext, parts: PartReaders) -> Value:
    found = parts.value(expr, context)
    if not found.type.may_be("number", "duration"):
        context.report.add(
            "wrong-kind",
            f"{found.type} cannot be added",
            span=expr.span,
            help="`sum(x in LIST: …)` adds numbers",
        )
    return found.value


def read_arithmetic(
    expr: tree.Arithmetic, context: StatementContext, parts: PartReaders
) -> TypedValue:
    """Return a sum, a difference or a product."""
    left = parts.value(expr.left, context)
    right = parts.value(expr.right, context)
    result = arithmetic_type(expr.op, left.type, right.type)
    if result is None:
        context.report.add(
            "wrong-kind",
            f"`{expr.op}` cannot be applied to {left.type} and {right.type}",
            span=expr.span,
            help=missing_unit(expr.left, expr.right, (left.type, right.type))
            or "`+ - *` are for numbers, times and durations",
        )
        return BROKEN
    return TypedValue(value=Arithmetic(op=expr.op, left=left.value, right=right.value), type=result)


def read_negative(expr: tree.Negate, context: StatementContext, parts: PartReaders) -> TypedValue:
    """Return a number or a duration with its sign changed."""
    operand = parts.value(expr.operand, context)
    if isinstance(operand.value, Constant) and operand.type.must_be("number", "duration"):
        return literal(-operand.value.value)
    if not operand.type.may_be("number", "duration"):
        context.report.add(
            "wrong-kind",
            f"`-` cannot be applied to {operand.type}",
            span=expr.span,
            help="`-` is for numbers and durations",
        )
        return BROKEN
    return TypedValue(value=Negative(operand=operand.value), type=operand.type)
