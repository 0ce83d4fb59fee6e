"""The reference evaluator's conditions: walks a condition node by node, in three-valued logic.

A test is True, False or None (undecidable). A scene's `absent` is what a test of an absent value
says in this place; `permits` is whether truth in this place loosens the verdict. Its
`redirections_covered` is whether other clauses of the rule cover the redirections of commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from policy.catalog import Resource, ToolSpec
from policy.model import EMPTY, Caller, Facts, PastCall
from policy.syntax import tree
from tests.reference_history import (
    earlier_calls,
    from_label,
    in_earlier_calls,
    judge_after,
    leaves_of,
)
from tests.reference_resources import SetReader, judge_resources
from tests.reference_said import named_by_user
from tests.reference_values import (
    ABSENT,
    UNKNOWN,
    UNREADABLE,
    Lack,
    Truth,
    all_of,
    any_of,
    as_number,
    equal,
    glob_fits,
    negated,
    text_test,
)


class NotInReference(Exception):
    """A part of the language that the oracle does not speak; no law generates it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All that one layer's conditions may look at for one call."""

    input: Any
    spec: ToolSpec
    resources: tuple[Resource, ...]
    complete: bool
    caller: Caller
    facts: Facts
    sets: Mapping[str, tree.NamedSet]
    lets: Mapping[str, tree.Expr]
    tools: Mapping[str, tree.Tools]
    labels: tuple[tree.LabelResults, ...] = ()
    absent: Truth = None
    redirections_covered: bool = False
    variables: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    permits: bool = False
    counting: bool = False

    def sets_reader(self) -> SetReader:
        return SetReader(sets=self.sets, facts=self.facts)


def judge(expr: tree.Expr, scene: Scene, *, permits: bool) -> Truth:  # noqa: C901 - an arm a node
    """Return what a condition says of the scene's call."""
    scene = replace(scene, permits=permits)

    def inner(test: tree.Expr, within: Scene = scene) -> Truth:
        return judge(test, within, permits=permits)

    def about(values: list[Any], test: Any) -> Truth:
        if any(value is UNREADABLE or value is UNKNOWN for value in values):
            return None
        if any(value is ABSENT for value in values):
            return scene.absent
        truth: Truth = test(*values)
        return truth

    match expr:
        case tree.And(operands=operands):
            return all_of([inner(operand) for operand in operands])
        case tree.Or(operands=operands):
            return any_of([inner(operand) for operand in operands])
        case tree.Not(operand=operand):
            return negated(judge(operand, scene, permits=not permits))
        case tree.Compare(op=op, left=left, right=right):
            truth = about(
                [value_of(left, scene), value_of(right, scene)],
                lambda a, b: equal(a, b) if op in ("==", "!=") else _ordered(op, a, b),
            )
            return negated(truth) if op == "!=" else truth
        case tree.In(left=left, right=right, negated=is_negated):
            around = replace(scene, permits=permits is not is_negated)
            truth = _member(left, right, scene=around, about=about)
            return negated(truth) if is_negated else truth
        case tree.TextTest(op="contains", left=left, right=tree.Regex(pattern=pattern)):
            return about(
                [value_of(left, scene)],
                lambda a: text_test(lambda t: re.search(pattern, t) is not None, a),
            )
        case tree.TextTest(op=op, left=left, right=right):
            assert not isinstance(right, tree.Regex)
            tests = {
                "starts with": lambda a, b: bool(a.startswith(b)),
                "ends with": lambda a, b: bool(a.endswith(b)),
                "contains": lambda a, b: b in a,
            }
            return about(
                [value_of(left, scene), value_of(right, scene)],
                lambda a, b: text_test(tests[op], a, b),
            )
        case tree.Like(left=left, pattern=pattern):
            return about(
                [value_of(left, scene)],
                lambda a: text_test(lambda t: glob_fits(pattern, t), a),
            )
        case tree.Matches(left=left, regex=tree.Regex(pattern=pattern)):
            return about(
                [value_of(left, scene)],
                lambda a: text_test(lambda t: re.fullmatch(pattern, t) is not None, a),
            )
        case tree.Is(left=left, what="present" | "absent" as what):
            found = value_of(left, scene)
            if found is UNREADABLE:
                return None
            return (found is ABSENT or found is UNKNOWN) == (what == "absent")
        case tree.Is(left=left, what=what):
            return about([value_of(left, scene)], lambda a: _is_a(what, a))
        case tree.Window(left=left):
            return about([value_of(left, scene)], lambda a: _is_within(expr, a))
        case tree.AfterTest(tools=tools, within=within):
            return judge_after(tools, within, scene, permits=permits, marks=marks_in(scene))
        case tree.From(left=left, source=tree.History() as source):
            return about([value_of(left, scene)], lambda a: _from_results(a, source, scene))
        case tree.From(left=left, source=tree.Name(name=name)):
            return about(
                [value_of(left, scene)], lambda a: from_label(a, name, scene, marks_in(scene))
            )
        case tree.NamedByUser(left=left):
            return about([value_of(left, scene)], lambda a: _named(a, scene))
        case tree.Quantifier():
            return _quantified(expr, scene, about=about, inner=inner)
        case tree.ResourceTest():
            return judge_resources(
                expr,
                scene.sets_reader(),
                input=scene.input,
                spec=scene.spec,
                resources=scene.resources,
                complete=scene.complete,
                absent=scene.absent,
                permits=permits,
                redirections_covered=scene.redirections_covered,
            )
        case tree.Name(name=name) if name in scene.lets and name not in scene.variables:
            return inner(scene.lets[name])
        case tree.Boolean() | tree.Name() | tree.Field() | tree.Index() | tree.Function():
            return about([value_of(expr, scene)], lambda a: a if isinstance(a, bool) else None)
        case _:
            raise NotInReference(type(expr).__name__)


def _ordered(op: str, left: Any, right: Any) -> Truth:
    if isinstance(left, datetime) and isinstance(right, datetime):
        a, b = Fraction(left.timestamp()), Fraction(right.timestamp())
    elif isinstance(left, timedelta) and isinstance(right, timedelta):
        a, b = (
            Fraction(left / timedelta(microseconds=1)),
            Fraction(right / timedelta(microseconds=1)),
        )
    else:
        first, second = as_number(left), as_number(right)
        if first is None or second is None:
            return None
        a, b = first, second
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]


def _is_a(kind: str, value: Any) -> Truth:
    kinds: dict[str, bool] = {
        "string": isinstance(value, str),
        "number": isinstance(value, int | float | Fraction | Decimal)
        and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "list": isinstance(value, tuple),
        "object": isinstance(value, Mapping),
    }
    if kind not in kinds:
        raise NotInReference(f"is {kind}")
    return kinds[kind]


_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _is_within(window: tree.Window, moment: Any) -> Truth:
    """Tell whether a time is in the window; its end is outside, its day is that of its start."""
    if not isinstance(moment, datetime):
        return None
    local = moment.astimezone(ZoneInfo(window.zone or "UTC"))
    clock, day = local.strftime("%H:%M"), local.weekday()
    inside = window.start <= clock < window.end
    if window.end <= window.start:
        inside = clock >= window.start or clock < window.end
        if clock < window.start:
            day = (day - 1) % 7
    named = {"weekdays": _DAYS[:5], "weekends": _DAYS[5:], None: _DAYS}
    return inside and _DAYS[day] in named.get(window.days, (window.days,))


def marks_in(scene: Scene) -> Callable[[tree.LabelResults, PastCall], Truth]:
    """Return whether a label's conditions hold for an earlier call of its tools."""

    def marks(label: tree.LabelResults, past: PastCall) -> Truth:
        result = UNREADABLE if past.result is None else past.result
        there = replace(scene, input=past.input, variables={"result": result})
        found: list[Truth] = []
        for clause in label.clauses:
            if isinstance(clause, tree.When):
                found.append(judge(clause.test, replace(there, absent=False), permits=False))
            elif isinstance(clause, tree.Unless):
                excepted = judge(clause.test, replace(there, absent=None), permits=True)
                found.append(negated(excepted))
        truth = all_of(found)
        return None if truth is True and past.outcome != "ok" else truth

    return marks


def _history_path(expr: tree.Expr) -> tuple[tree.History, list[str]] | None:
    steps: list[str] = []
    while isinstance(expr, tree.Field):
        steps.insert(0, expr.name)
        expr = expr.base
    return (expr, steps) if isinstance(expr, tree.History) else None


def _in_history(value: Any, source: tree.History, steps: list[str], scene: Scene) -> Truth:
    calls = earlier_calls(source, scene, permits=scene.permits, marks=marks_in(scene))
    truth = in_earlier_calls(value, calls, steps)
    return None if truth is False and source.kind == "results" and not calls else truth


def _member(left: tree.Expr, right: tree.Expr, *, scene: Scene, about: Any) -> Truth:
    path = _history_path(right)
    if path is not None and path[1]:
        return about([value_of(left, scene)], lambda a: _in_history(a, *path, scene))  # type: ignore[no-any-return]
    match right:
        case tree.Name(name=name) if name in scene.sets and name not in scene.variables:
            return about(  # type: ignore[no-any-return]
                [value_of(left, scene)],
                lambda a: scene.sets_reader().holds(scene.sets[name], a),
            )
        case tree.ListLiteral(items=()):
            return about([value_of(left, scene)], lambda a: False)  # type: ignore[no-any-return]
        case tree.ListLiteral(items=items):
            return any_of(
                [
                    _member(left, item, scene=scene, about=about)
                    if isinstance(item, tree.Name) and item.name in scene.sets
                    else about([value_of(left, scene), value_of(item, scene)], equal)
                    for item in items
                ]
            )
        case _:
            return about(  # type: ignore[no-any-return]
                [value_of(left, scene), value_of(right, scene)],
                lambda a, found: any_of(
                    [
                        about([a, ABSENT if item is None else item], equal)
                        for item in _elements(found)
                    ]
                ),
            )


def _from_results(value: Any, source: tree.History, scene: Scene) -> Truth:
    """Tell whether each element stands in a result, as it may in what the user wrote."""
    if value == ():
        return scene.absent
    results = earlier_calls(source, scene, permits=scene.permits, marks=marks_in(scene))
    if results is None:
        return None
    leaves = [leaf for result in results for leaf in leaves_of(result)]
    said = replace(scene.facts, said=tuple(leaf for leaf in leaves if leaf is not UNREADABLE))
    sure = bool(results) and UNREADABLE not in leaves
    each = [named_by_user(item, said) for item in _elements(value)]
    return all_of([None if truth is False and not sure else truth for truth in each])


def _named(value: Any, scene: Scene) -> Truth:
    """Tell whether each element stands in what the user wrote; an empty list is absent."""
    if value == ():
        return scene.absent
    return all_of([named_by_user(item, scene.facts) for item in _elements(value)])


def _elements(value: Any) -> tuple[Any, ...]:
    """Return a list's elements; a single value where a list is expected is a list of one."""
    return value if isinstance(value, tuple) else (value,)


def _quantified(expr: tree.Quantifier, scene: Scene, *, about: Any, inner: Any) -> Truth:
    def over(found: Any) -> Truth:
        each = [
            inner(expr.test, bound(scene, expr, position, element))
            for position, element in enumerate(_elements(found))
        ]
        return any_of(each) if expr.kind == "any" else all_of(each)

    found = value_of(expr.source, scene)
    if expr.kind == "all" and found == ():
        found = ABSENT
    return about([found], over)  # type: ignore[no-any-return]


def bound(
    scene: Scene, expr: tree.Quantifier | tree.Selection, position: int, element: Any
) -> Scene:
    """Return the scene with the variable, and the place if it is named, bound."""
    variables = {**scene.variables, expr.variable: ABSENT if element is None else element}
    if expr.index is not None:
        variables[expr.index] = position
    return replace(scene, variables=variables)


# ------------------------------------------------------------------ values

_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def value_of(expr: tree.Expr, scene: Scene) -> Any:  # noqa: C901 - an arm a node
    """Return a JSON value (numbers of the policy as fractions), or what is lacking."""
    match expr:
        case tree.Text(value=value) | tree.Boolean(value=value):
            return value
        case tree.Number(value=number):
            return Fraction(number)
        case tree.Duration(amount=amount, unit=unit):
            return amount * _UNITS[unit]
        case tree.ObjectLiteral():
            return _data(expr, scene)
        case tree.ListLiteral(items=items):
            found = tuple(value_of(item, scene) for item in items)
            return _lacking(found) or found
        case tree.Negate(operand=operand):
            return _computed("*", Fraction(-1), value_of(operand, scene))
        case tree.Arithmetic(op=op, left=left, right=right):
            return _computed(op, value_of(left, scene), value_of(right, scene))
        case tree.Name(name=name):
            if name in scene.variables:
                return scene.variables[name]
            if name in scene.lets:
                return value_of(scene.lets[name], scene)
            return _fact((name,), scene)
        case tree.Field(base=tree.Name(name=name), name=step) if (
            name in ("tool", "agent", "session", "user", "sandbox", "context", "call")
            and name not in scene.variables
        ):
            return _fact((name, step), scene)
        case tree.Field(base=base, name=step):
            return _field(value_of(base, scene), step)
        case tree.Index(base=base, key=key):
            return _index(value_of(base, scene), value_of(key, scene))
        case tree.Selection():
            return _selected(expr, scene)
        case tree.History():
            calls = earlier_calls(expr, scene, permits=scene.permits, marks=marks_in(scene))
            return UNREADABLE if calls is None else calls
        case tree.Function(name="first_present", args=args):
            found = tuple(value_of(arg, scene) for arg in args)
            return next((value for value in found if value is not ABSENT), ABSENT)
        case tree.Function(name="length", args=(arg,)):
            value = value_of(arg, scene)
            if isinstance(value, Lack):
                return value
            return len(value) if isinstance(value, str | tuple | Mapping) else UNREADABLE
        case tree.Function(name="time", args=(tree.Text(value=text),)):
            return datetime.fromisoformat(text)
        case tree.Function(name="min" | "max" as name, args=args):
            return _extreme(name, tuple(value_of(arg, scene) for arg in args))
        case _:
            raise NotInReference(type(expr).__name__)


def _data(expr: tree.Expr, scene: Scene) -> Any:
    """Return data as JSON has it: null is a value there."""
    match expr:
        case tree.Null():
            return None
        case tree.ListLiteral(items=items):
            return tuple(_data(item, scene) for item in items)
        case tree.ObjectLiteral(entries=entries):
            return {key: _data(value, scene) for key, value in entries}
        case _:
            return value_of(expr, scene)


def _lacking(values: tuple[Any, ...]) -> Lack | None:
    """Unreadable before unknown before absent: what cannot be decided never hides."""
    for lack in (UNREADABLE, UNKNOWN, ABSENT):
        if any(value is lack for value in values):
            return lack
    return None


def _computed(op: str, left: Any, right: Any) -> Any:
    lack = _lacking((left, right))
    if lack is not None:
        return lack
    times = [value for value in (left, right) if isinstance(value, datetime | timedelta)]
    if times:
        return _computed_time(op, left, right)
    a, b = as_number(left), as_number(right)
    if a is None or b is None:
        return UNREADABLE
    return {"+": a + b, "-": a - b, "*": a * b}[op]


def _computed_time(op: str, left: Any, right: Any) -> Any:
    """Add and subtract times and durations; multiply a duration by a whole number."""
    if op == "*":
        for duration, other in ((left, right), (right, left)):
            times = as_number(other)
            if isinstance(duration, timedelta) and times is not None and times.denominator == 1:
                return duration * int(times)
        return UNREADABLE
    try:
        return left + right if op == "+" else left - right
    except TypeError:
        return UNREADABLE


def _extreme(name: str, values: tuple[Any, ...]) -> Any:
    if len(values) == 1 and isinstance(values[0], tuple):
        values = values[0]
    lack = _lacking(values)
    if lack is not None:
        return lack
    numbers = [as_number(value) for value in values]
    if any(number is None for number in numbers):
        return UNREADABLE
    known = [number for number in numbers if number is not None]
    if not known:
        return ABSENT
    return min(known) if name == "min" else max(known)


def _field(base: Any, step: str) -> Any:
    if isinstance(base, Lack):
        return base
    if isinstance(base, tuple):
        found: list[Any] = []
        for element in base:
            value = ABSENT if element is None else _field(element, step)
            if value is UNREADABLE or value is UNKNOWN:
                return value
            if isinstance(value, tuple):
                found.extend(value)
            elif value is not ABSENT:
                found.append(value)
        return tuple(found)
    if not isinstance(base, Mapping):
        return UNREADABLE
    value = base.get(step)
    return ABSENT if value is None else value


def _index(base: Any, key: Any) -> Any:
    lack = _lacking((base, key))
    if lack is not None:
        return lack
    if isinstance(key, str):
        return _field(base, key)
    place = as_number(key)
    if not isinstance(base, tuple) or place is None or place.denominator != 1:
        return UNREADABLE
    where = int(place)
    if not -len(base) <= where < len(base):
        return ABSENT
    return ABSENT if base[where] is None else base[where]


def _selected(expr: tree.Selection, scene: Scene) -> Any:
    source = value_of(expr.source, scene)
    if isinstance(source, Lack):
        return source
    scenes = [
        (element, bound(scene, expr, position, element))
        for position, element in enumerate(_elements(source))
    ]
    if expr.function == "sum":
        total: Any = Fraction(0)
        for _, within in scenes:
            amount = value_of(expr.test, within)
            # A sum that leaves something out is not known to be small, and in a limit nothing makes
            # room for something else.
            if scene.counting and isinstance(amount, int | float | Fraction) and amount < 0:
                amount = UNREADABLE
            total = _computed("+", total, UNREADABLE if amount is ABSENT else amount)
        return total
    if expr.function == "latest":
        for element, within in reversed(scenes):
            truth = judge(expr.test, within, permits=False)
            if truth is not False:
                return UNREADABLE if truth is None else element
        return UNKNOWN
    tests = [(element, judge(expr.test, within, permits=False)) for element, within in scenes]
    if any(truth is None for _, truth in tests):
        return UNREADABLE
    kept = tuple(element for element, truth in tests if truth)
    match expr.function:
        case "filter":
            return kept
        case "count":
            return len(kept)
        case "first":
            return kept[0] if kept else ABSENT
        case _:
            raise NotInReference(expr.function)


def _fact(path: tuple[str, ...], scene: Scene) -> Any:  # noqa: C901 - an arm a fact
    caller, spec = scene.caller, scene.spec

    def known(value: Any) -> Any:
        return UNKNOWN if value is None else value

    def given(value: Any) -> Any:
        return ABSENT if value is None else value

    match path:
        case ("input",):
            return scene.input
        case ("now",):
            return known(scene.facts.now)
        case ("workspace",):
            return known(scene.facts.workspace)
        case ("tool", "name"):
            return spec.name
        case ("tool", "origin"):
            return spec.origin.kind
        case ("tool", "server"):
            return spec.origin.server or ABSENT
        case ("tool", "category"):
            return known(spec.category)
        case ("tool", "read_only"):
            return known(spec.read_only)
        case ("tool", "destructive"):
            return known(spec.destructive)
        case ("tool", "idempotent"):
            return known(spec.idempotent)
        case ("tool", "pinned"):
            return spec.pinned
        case ("agent", "name"):
            return caller.agent
        case ("agent", "depth"):
            return caller.depth
        case ("agent", "parent"):
            return given(caller.parent and caller.parent.agent)
        case ("session", "id"):
            return caller.session
        case ("session", "role"):
            return caller.role
        case ("user", "id"):
            return given(caller.user)
        case ("user", "groups"):
            return caller.groups
        case ("user", "said"):
            return known(scene.facts.said)
        case ("sandbox", what):
            sandbox = scene.facts.sandbox
            names = {spec.name} if sandbox is None or sandbox.tools is None else sandbox.tools
            if sandbox is None or spec.origin.kind != "host" or spec.name not in names:
                return ABSENT if what == "tier" else ()
            return sandbox.name if what == "tier" else tuple(sorted(sandbox.enforces))
        case ("context", name):
            return known(scene.facts.context.get(name))
        case _:
            raise NotInReference(".".join(path))
