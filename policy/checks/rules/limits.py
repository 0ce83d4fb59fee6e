"""Resolves `limit TOOLS to N of VALUE per PERIOD`: a budget, and what is charged to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from policy.catalog import Step
from policy.checks.assembly import Unit
from policy.checks.checked import CheckedLimit, LayerKey, LimitScope, Value
from policy.checks.conditions.fields import field_type
from policy.checks.conditions.kept_windows import check_window
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.conditions.tests import value
from policy.checks.context import CheckContext
from policy.checks.names.interpolation import constant, duration_of
from policy.checks.names.known_tools import ToolKnowledge
from policy.checks.rules.approval import read_terms
from policy.checks.rules.changes import input_steps
from policy.checks.rules.clauses import read_clauses
from policy.checks.rules.reader import read_tools, rule_id, statement_context
from policy.checks.satisfiability.never import check_can_hold
from policy.model import Span
from policy.syntax import print_clause, print_limit, tree

_UNITS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_SCOPES: dict[str, LimitScope] = {"session": "session", "agent": "agent", "user": "user"}
_CLAUSES_THAT_COUNT = (tree.When, tree.Unless, tree.After)


def read_limit(
    limit: tree.Limit,
    unit: Unit,
    check: CheckContext,
    *,
    key: LayerKey,
    knowledge: ToolKnowledge,
) -> CheckedLimit:
    """Return a limit, resolved; `key` is the layer that it belongs to."""
    before = check.report.errors
    selector = read_tools(limit.tools, unit, check, grants=False)
    context = statement_context(selector, unit, check)
    clauses = read_clauses(limit.clauses, context, permits=False)
    read_terms(limit.clauses, context, asks=False)
    amount = _amount(limit, context)
    capacity = _capacity(limit, context)
    periods = _periods(limit, context)
    if not unit.pack and check.report.errors == before:
        check_can_hold(clauses, knowledge.all_of(selector), check.report, grants=False)
    counted = [one for one in limit.clauses if isinstance(one, _CLAUSES_THAT_COUNT)]
    conditions = [print_clause(clause, context.spelled) for clause in counted]
    return CheckedLimit(
        id=rule_id(limit.name, limit.span, unit.prefix),
        tools=selector,
        capacity=capacity,
        amount=amount,
        window=periods.window,
        scope=periods.scope,
        steps=periods.steps,
        when=clauses.when,
        unless=clauses.unless,
        because=clauses.because,
        audit=clauses.audit,
        shadow=limit.shadow,
        meter=_meter(limit, periods, conditions, key=key, unit=unit, context=context),
        slots=context.slots,
        text=" ".join([print_limit(limit), *conditions]),
        of_pack=unit.pack,
        broken=check.report.errors != before,
        reads=context.past_reads,
        span=limit.span,
    )


def _meter(
    limit: tree.Limit,
    periods: _Periods,
    conditions: list[str],
    *,
    key: LayerKey,
    unit: Unit,
    context: StatementContext,
) -> str:
    """Return what identifies that which the limit counts.

    By the words of its conditions, not by what names in them stand for: a set that gets one more
    item goes on counting. Neither its name, nor its tools, nor how much it allows in which time is
    a part, so that an edit of these resets nothing.
    """
    of = None if limit.of is None else context.words(limit.of)
    parts = [key.title, unit.prefix, of, periods.scope, *map(str, periods.steps)]
    return json.dumps([parts, sorted(conditions)], ensure_ascii=True)


# ------------------------------------------------------------------ amounts


def _amount(limit: tree.Limit, context: StatementContext) -> Value | None:
    """Return what is counted of a call; None where calls are."""
    if limit.of is None:
        return None
    given = value(limit.of, context)
    if not given.type.may_be("number"):
        _refuse(f"an amount must be a number, not {given.type}", limit.of.span, context)
    return given.value


def _capacity(limit: tree.Limit, context: StatementContext) -> int | Decimal:
    node = limit.amount
    if isinstance(node, tree.Number):
        capacity: int | Decimal = node.value
    else:
        found = context.scope.find(node.name)
        if found is None:
            # Reports the unknown name, or one that means no value.
            value(node, context)
        given = constant(node, context.scope, context.report)
        if isinstance(given, bool) or not isinstance(given, (int, float)):
            if found is not None and _is_number(found.node):
                # Its value is reported where it is given.
                context.report.excuse()
            elif found is not None:
                _refuse(f"`{node.name}` is not a number", node.span, context)
            return 0
        capacity = given if isinstance(given, int) else Decimal(repr(given))
    if capacity < 0:
        _refuse("a limit cannot be negative", node.span, context)
    elif limit.of is None and capacity != int(capacity):
        _refuse("calls are counted in whole numbers", node.span, context)
    return capacity


def _is_number(node: tree.Statement) -> bool:
    return isinstance(node, tree.Param) and node.kind == "number"


# ------------------------------------------------------------------ periods


@dataclass(frozen=True, slots=True, kw_only=True)
class _Periods:
    """The window of a limit, and for whom each budget is."""

    window: timedelta | None = None
    scope: LimitScope = "service"
    steps: tuple[Step, ...] = ()


def _periods(limit: tree.Limit, context: StatementContext) -> _Periods:
    windows = [one for one in limit.per if isinstance(one, tree.Duration) or one in _UNITS]
    scopes = [one for one in limit.per if one not in windows]
    for second, what in ((windows[1:], "window of time"), (scopes[1:], "scope")):
        if second:
            _refuse(f"a second {what} in one limit", limit.span, context, help=_TWO_LIMITS)
    window = _window(windows[0], limit, context) if windows else None
    if not scopes:
        return _Periods(window=window)
    scope = scopes[0]
    if isinstance(scope, str):
        return _Periods(window=window, scope=_SCOPES[scope])
    assert isinstance(scope, tree.FieldPath)
    steps = input_steps(scope, context) or ()
    if steps and context.tools is not None:
        shown = ".".join(["input", *(str(step) for step in steps if step != "*")])
        field_type(steps, context.tools, context.report, shown=shown, span=scope.span)
    return _Periods(window=window, scope="field", steps=steps)


_TWO_LIMITS = "write one `limit` for each; a call must have room in all of them"


def _window(
    period: tree.Duration | str | tree.FieldPath, limit: tree.Limit, context: StatementContext
) -> timedelta:
    if isinstance(period, str):
        check_window(_UNITS[period], limit.span, context.check)
        return _UNITS[period]
    assert isinstance(period, tree.Duration)
    window = duration_of(period, context.report)
    check_window(window, period.span, context.check)
    if not window and period.amount == 0:
        _refuse("no call is within a window of no time", period.span, context)
    return window


def _refuse(why: str, span: Span, context: StatementContext, *, help: str = "") -> None:
    context.report.add(
        "bad-limit",
        why,
        span=span,
        help=help or "run `placet check --explain bad-limit` for an example",
    )
