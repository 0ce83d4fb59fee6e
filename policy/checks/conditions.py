"""Conditions in, resolved tests out: comparisons, membership, quantifiers, resource tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, assert_never

from policy import later
from policy.checks.checked import (
    AllOf,
    AnyOf,
    Comparison,
    Constant,
    KindTest,
    LikeTest,
    Member,
    NotOf,
    Presence,
    Quantified,
    RegexTest,
    Test,
    TextRelation,
    Truth,
    ValueSet,
    WindowTest,
)
from policy.checks.expressions import CONDITIONS, read_value
from policy.checks.kinds import NUMBER, TEXT, Kind, comparable, kind_of, orderable
from policy.checks.later import refuse
from policy.checks.names import inline
from policy.checks.phrases import read_phrase
from policy.checks.reading import BROKEN, BROKEN_TEST, Parts, Reading, Typed
from policy.checks.scopes import Definition
from policy.checks.texts import dotted, fill_in
from policy.diagnostics import did_you_mean
from policy.records import maker, replace
from policy.source import Span
from policy.syntax import Phrase, print_expr, tree
from policy.values import Unreadable, compile_regex, parse_clock, read_zone

if TYPE_CHECKING:
    from policy.checks.places import read_resource_test
    from policy.checks.sets import named_set, operand_set
else:
    read_resource_test = later.function(
        "policy.checks.places", "read_resource_test", into=globals()
    )
    named_set = later.function("policy.checks.sets", "named_set", into=globals())
    operand_set = later.function("policy.checks.sets", "operand_set", into=globals())

_DAYS: dict[str, frozenset[int]] = {
    "weekdays": frozenset(range(5)),
    "weekends": frozenset({5, 6}),
    **{
        day: frozenset({n})
        for n, day in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))
    },
}


# What most rules are made of.
_all_of = maker(AllOf)
_comparison = maker(Comparison)

_BROKEN: Test = BROKEN_TEST


def read_test(expr: tree.Expr | Phrase, reading: Reading) -> Test:
    """Return the test that `expr` stands for; what is wrong with it has been said."""
    if type(expr) is Phrase:
        return read_phrase(expr, reading, read_test)
    if not reading.count(expr.span):
        return BROKEN_TEST
    return TESTS.get(type(expr), _truth)(expr, reading)


def _later(what: str) -> Callable[[tree.Expr, Reading], Test]:
    """Return what refuses a condition that cannot be used yet."""

    def refused(expr: tree.Expr, reading: Reading) -> Test:
        refuse(what, reading.report, span=expr.span)
        return BROKEN_TEST

    return refused


def _and(expr: tree.And, reading: Reading) -> Test:
    return _all_of(tests=_all(expr.operands, reading), text=reading.words(expr))


def _or(expr: tree.Or, reading: Reading) -> Test:
    return AnyOf(tests=_all(expr.operands, reading), text=reading.words(expr))


def _like(expr: tree.Like, reading: Reading) -> Test:
    left = _text(expr.left, "like", reading)
    pattern = fill_in(expr.pattern, reading.scope, reading.report, span=expr.span)
    return LikeTest(left=left.value, pattern=pattern, text=reading.words(expr))


def _matches(expr: tree.Matches, reading: Reading) -> Test:
    left = _text(expr.left, "matches", reading)
    check_regex(expr.regex, reading)
    return RegexTest(
        left=left.value, pattern=expr.regex.pattern, whole=True, text=reading.words(expr)
    )


def _all(operands: Iterable[tree.Expr], reading: Reading) -> tuple[Test, ...]:
    return tuple([read_test(operand, reading) for operand in operands])


def value(expr: tree.Expr, reading: Reading) -> Typed:
    """Return the value of an expression that stands in a condition."""
    return read_value(expr, reading, _PARTS)


_PARTS = Parts(value, read_test)


def _not(expr: tree.Not, reading: Reading) -> Test:
    outer = reading.permits
    reading.permits = None if outer is None else not outer
    try:
        return NotOf(test=read_test(expr.operand, reading), text=reading.words(expr))
    finally:
        reading.permits = outer


def _truth(expr: tree.Expr, reading: Reading) -> Test:
    """Read a value used as a condition, or the name of a `let` that is a condition."""
    found = _let(expr, reading)
    if found is not None:
        assert isinstance(found.node, tree.Let)
        inner = inline(
            found,
            expr.span,
            reading,
            lambda test: read_test(test, reading),
            broken=_BROKEN,
        )
        return inner if inner is BROKEN_TEST else replace(inner, text=reading.words(expr))
    read = value(expr, reading)
    if not read.kind.may_be("boolean"):
        reading.report.say(
            "not-a-condition",
            f"`{print_expr(expr)}` is {read.kind}, and a condition is needed here",
            span=expr.span,
            help=_condition_help(expr, read.kind),
        )
        return BROKEN_TEST
    return Truth(value=read.value, text=reading.words(expr))


def _condition_help(expr: tree.Expr, kind: Kind) -> str:
    shown = print_expr(expr)
    if kind.must_be("list"):
        return f"ask something of it: `{shown} == []`, or `any x in {shown}: …`"
    return f"ask something of it: `{shown} == …`, or `{shown} is present`"


def _let(expr: tree.Expr, reading: Reading) -> Definition | None:
    """Return the definition where `expr` names a `let` whose value is a condition."""
    name = dotted(expr)
    if name is None or name.partition(".")[0] in reading.locals:
        return None
    found = reading.scope.find(name)
    if found is None or not isinstance(found.node, tree.Let):
        return None
    if isinstance(found.node.value, CONDITIONS):
        return found
    seen = [found]
    inner: Definition | None = found
    while inner is not None and isinstance(inner.node, tree.Let):
        if isinstance(inner.node.value, CONDITIONS):
            return found
        name = dotted(inner.node.value)
        inner = inner.scope.find(name) if name else None
        if inner in seen:
            return None
        if inner is not None:
            seen.append(inner)
    return None


def _quantifier(expr: tree.Quantifier, reading: Reading) -> Test:
    source = value(expr.source, reading)
    with reading.variable(expr.variable, expr.index, source=source, span=expr.span) as slots:
        test = read_test(expr.test, reading)
    return Quantified(
        kind=expr.kind,
        slot=slots[0],
        index_slot=slots[1],
        source=source.value,
        test=test,
        text=reading.words(expr),
    )


# ------------------------------------------------------------------ comparisons


def _compare(expr: tree.Compare, reading: Reading) -> Test:
    left, right = value(expr.left, reading), value(expr.right, reading)
    if left is BROKEN or right is BROKEN:
        return BROKEN_TEST
    text = reading.words(expr)
    if expr.op == "==" or expr.op == "!=":
        _check_equal(expr, left, right, reading)
        equal = Comparison(op="==", left=left.value, right=right.value, text=text)
        return equal if expr.op == "==" else NotOf(test=equal, text=text)
    if not orderable(left.kind, right.kind):
        reading.report.say(
            "wrong-kind",
            f"{left.kind} and {right.kind} have no order",
            span=expr.span,
            help=_one_kind(left.kind, right.kind),
        )
    return _comparison(op=expr.op, left=left.value, right=right.value, text=text)


def _check_equal(expr: tree.Compare, left: Typed, right: Typed, reading: Reading) -> None:
    _check_word(left, expr.left, right, reading, span=expr.right.span)
    _check_word(right, expr.right, left, reading, span=expr.left.span)
    if comparable(left.kind, right.kind):
        return
    many, one = (expr.left, expr.right) if left.kind.must_be("list") else (expr.right, expr.left)
    if left.kind.must_be("list") or right.kind.must_be("list"):
        reading.report.say(
            "list-against-value",
            f"`{print_expr(many)}` is a list, and a list never equals a single value",
            span=expr.span,
            help=f"write `{print_expr(one)} in {print_expr(many)}`",
        )
        return
    reading.report.say(
        "wrong-kind",
        f"{left.kind} and {right.kind} are never equal",
        span=expr.span,
        help=_one_kind(left.kind, right.kind),
    )


def _check_word(of: Typed, expr: tree.Expr, other: Typed, reading: Reading, *, span: Span) -> None:
    """Say so where a text of few words is compared with another one."""
    words = of.kind.words
    word = other.value.value if isinstance(other.value, Constant) else None
    if words is None or not isinstance(word, str) or word in words:
        return
    reading.report.say(
        "wrong-kind",
        f"`{print_expr(expr)}` is never `{word}`",
        span=span,
        help=did_you_mean(word, words) or f"it is one of {', '.join(f'`{one}`' for one in words)}",
    )


def _constant(value: Any) -> Typed:
    return Typed(value=Constant(value=value), kind=kind_of(value))


def _one_kind(left: Kind, right: Kind) -> str:
    if "time" in (left.names or ()) or "time" in (right.names or ()):
        return 'a text is read as a time by `time("2026-03-01T08:00:00Z")` or `date("2026-03-01")`'
    return "compare values of one kind: two numbers, two texts, two times or two spans"


# ------------------------------------------------------------------ membership


def _in(expr: tree.In, reading: Reading) -> Test:
    left = value(expr.left, reading)
    text = reading.words(expr)
    member = _set_on_right(expr, left, text, reading) or _list_on_right(expr, left, text, reading)
    if member is None:
        return BROKEN_TEST
    return NotOf(test=member, text=text) if expr.negated else member


def _set_on_right(expr: tree.In, left: Typed, text: str, reading: Reading) -> Member | None:
    kinds = _named_kinds(expr.right, reading)
    if not kinds:
        return None
    members = operand_set(expr.right, kinds[0].kind, reading.scope, reading.world)
    _check_left(expr, left, NUMBER if members.kind == "numbers" else TEXT, reading)
    return Member(left=left.value, right=members, text=text)


def _named_kinds(expr: tree.Expr, reading: Reading) -> list[ValueSet]:
    """Return the named sets that a name, or a list with names in it, speaks of."""
    if isinstance(expr, tree.ListLiteral):
        return [
            found
            for item in expr.items
            if not isinstance(item, (tree.Text, tree.Number))
            for found in _named_kinds(item, reading)
        ]
    name = dotted(expr)
    if name is None or name.partition(".")[0] in reading.locals:
        return []
    found = reading.scope.find(name)
    named = named_set(found, reading.world) if found is not None else None
    return [named] if named is not None else []


def _list_on_right(expr: tree.In, left: Typed, text: str, reading: Reading) -> Member | None:
    right = value(expr.right, reading)
    if left is BROKEN or right is BROKEN:
        return None
    if not right.kind.may_be("list"):
        is_text = right.kind.must_be("text")
        reading.report.say(
            "wrong-kind",
            f"`in` needs a set or a list, not {right.kind}",
            span=expr.right.span,
            help=f"write `{print_expr(expr.right)} contains {print_expr(expr.left)}`"
            if is_text
            else f"write `{print_expr(expr.left)} == {print_expr(expr.right)}`",
        )
        return None
    if right.kind.must_be("list"):
        _check_left(expr, left, right.kind.element, reading)
        _check_items(expr, left, right, reading)
    return Member(left=left.value, right=right.value, text=text)


def _check_items(expr: tree.In, left: Typed, right: Typed, reading: Reading) -> None:
    """Say so of each item of a list that could never be equal, beside others that could."""
    if left.kind.names is None or not isinstance(right.value, Constant):
        return
    element = right.kind.element
    if not comparable(left.kind, element):
        return
    if left.kind.words is None and element.names is not None and element.names <= left.kind.names:
        return
    nodes = expr.right.items if isinstance(expr.right, tree.ListLiteral) else ()
    for place, item in enumerate(right.value.value):
        node = nodes[place] if place < len(nodes) else expr.right
        _check_word(left, expr.left, _constant(item), reading, span=node.span)
        kind = kind_of(item)
        if comparable(left.kind, kind):
            continue
        reading.report.say(
            "wrong-kind",
            f"{left.kind} and {kind} are never equal",
            span=node.span,
            help="remove the item, or write it as the others",
        )


def _check_left(expr: tree.In, left: Typed, item: Kind, reading: Reading) -> None:
    if left.kind.must_be("list") and not item.may_be("list"):
        reading.report.say(
            "list-against-value",
            f"`{print_expr(expr.left)}` is a list, and `in` asks of a single value",
            span=expr.span,
            help=f"write `any x in {print_expr(expr.left)}: x in {print_expr(expr.right)}`, "
            "or `all` for each of them",
        )
    elif not comparable(left.kind, item):
        reading.report.say(
            "wrong-kind",
            f"{left.kind} is never one of these: each is {item}",
            span=expr.span,
            help="compare values of one kind",
        )


# ------------------------------------------------------------------ text


def _text(expr: tree.Expr, what: str, reading: Reading) -> Typed:
    """Read a value that must be text."""
    read = value(expr, reading)
    if read.kind.may_be("text"):
        return read
    is_list = read.kind.must_be("list")
    reading.report.say(
        "list-against-value" if is_list else "wrong-kind",
        f"`{what}` asks of a text, and `{print_expr(expr)}` is {read.kind}",
        span=expr.span,
        help=f"write `any x in {print_expr(expr)}: x {what} …`" if is_list else "ask it of a text",
    )
    return BROKEN


def _text_test(expr: tree.TextTest, reading: Reading) -> Test:
    if expr.op == "contains":
        listed = value(expr.left, reading)
        if listed.kind.must_be("list") and not isinstance(expr.right, tree.Regex):
            reading.report.say(
                "list-against-value",
                f"`contains` asks of a text, and `{print_expr(expr.left)}` is a list",
                span=expr.span,
                help=f"write `{print_expr(expr.right)} in {print_expr(expr.left)}`",
            )
            return BROKEN_TEST
    left = _text(expr.left, expr.op, reading)
    if isinstance(expr.right, tree.Regex):
        check_regex(expr.right, reading)
        return RegexTest(
            left=left.value, pattern=expr.right.pattern, whole=False, text=reading.words(expr)
        )
    right = _text(expr.right, expr.op, reading)
    return TextRelation(op=expr.op, left=left.value, right=right.value, text=reading.words(expr))


def check_regex(regex: tree.Regex, reading: Reading) -> None:
    """Say so where a pattern is none that runs in linear time."""
    found = compile_regex(regex.pattern)
    if isinstance(found, Unreadable):
        reading.report.say(
            "bad-pattern",
            f"this pattern cannot be used: {found.reason}",
            span=regex.span,
            help="patterns have RE2 syntax: no look-around and no back-references",
        )


# ------------------------------------------------------------------ other tests


def _is(expr: tree.Is, reading: Reading) -> Test:
    left = value(expr.left, reading)
    text = reading.words(expr)
    match expr.what:
        case "present" | "absent":
            return Presence(left=left.value, present=expr.what == "present", text=text)
        case "string" | "number" | "boolean" | "list" | "object":
            return KindTest(left=left.value, kind=expr.what, text=text)
        case _:
            assert_never(expr.what)


def _window(expr: tree.Window, reading: Reading) -> Test:
    left = value(expr.left, reading)
    if not left.kind.may_be("time"):
        reading.report.say(
            "wrong-kind",
            f"`within` asks of a time, and `{print_expr(expr.left)}` is {left.kind}",
            span=expr.left.span,
            help="write `now within …`",
        )
    zone = expr.zone or "UTC"
    found = read_zone(zone)
    if isinstance(found, Unreadable):
        reading.report.say(
            "bad-time",
            found.reason,
            span=expr.span,
            help='zones have names such as "Europe/Paris"',
        )
    start, end = (_minutes(text, expr.span, reading) for text in (expr.start, expr.end))
    if start == end:
        reading.report.say(
            "bad-time",
            "a window that ends when it opens",
            span=expr.span,
            help="leave the window out, or let it end at another time",
        )
    return WindowTest(
        left=left.value,
        start=start,
        end=end,
        zone=zone,
        days=_DAYS[expr.days] if expr.days else None,
        text=reading.words(expr),
    )


def _minutes(text: str, span: Span, reading: Reading) -> int:
    """Return a time of the day in minutes; the midnight that ends a day is its next one's start."""
    found = parse_clock(text)
    if isinstance(found, Unreadable):
        reading.report.say("bad-time", found.reason, span=span, help="write `08:00..18:00`")
        return 0
    return found.hour * 60 + found.minute


# How each condition is read; what is none is a value used as one.
TESTS: Mapping[type, Callable[[Any, Reading], Test]] = MappingProxyType(
    {
        tree.And: _and,
        tree.Or: _or,
        tree.Not: _not,
        tree.Quantifier: _quantifier,
        tree.Compare: _compare,
        tree.In: _in,
        tree.TextTest: _text_test,
        tree.Like: _like,
        tree.Matches: _matches,
        tree.Is: _is,
        tree.Window: _window,
        tree.ResourceTest: read_resource_test,
        tree.NamedByUser: _later("`named by user`"),
        tree.From: _later("`from` a label or a result"),
        tree.AfterTest: _later("`after`"),
    }
)
