"""The reference evaluator's limits: every earlier call is counted again for every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from policy.catalog import ToolSpec
from policy.model import Caller, Facts, PastCall
from policy.syntax import tree
from tests.reference_history import UNITS
from tests.reference_values import ABSENT, Lack, Truth

_WINDOWS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
# None stands for an absent value, and for the one budget of a limit without a scope.
Payer: TypeAlias = str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCall:
    """A call that limits look at: this one, or an earlier one at its own time."""

    spec: ToolSpec
    input: Any
    caller: Caller
    facts: Facts


class Asked(Protocol):
    """How a limit reads one call for one caller of its chain."""

    def matches(self, limit: tree.Limit, call: OneCall, *, absent: Truth = False) -> Truth:
        """Tell whether the tools and clauses fit; None: undecidable. Tests of nothing: `absent`."""
        ...

    def value(self, expr: tree.Expr, call: OneCall) -> Any:
        """Return the value of an expression."""
        ...

    def spec_of(self, past: PastCall) -> ToolSpec:
        """Return the tool of an earlier call."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReader:
    """Reads the limits of one layer; `binds` tells for which callers of a chain."""

    asked: Asked
    binds: Callable[[Caller], bool]

    def is_used_up(self, limit: tree.Limit, call: OneCall) -> bool:
        """Tell whether a call has no room in a limit; what is not known leaves none."""
        charged = self.charged(limit, call)
        if charged is None:
            return True
        history = call.facts.history
        if not charged:
            return False
        if not isinstance(history, tuple):
            return True
        for payer, amount in charged.items():
            used = Fraction(0)
            for place, past in enumerate(history):
                if not self._is_recent(limit, past, call.facts):
                    continue
                earlier = self._earlier(call, past, history[:place])
                theirs = self.charged(limit, earlier)
                if theirs is None:
                    # An amount that is not known may have used up everything it could be for.
                    if payer in self._payers_of(limit, earlier):
                        return True
                    continue
                used += theirs.get(payer, Fraction(0))
            if used + amount > Fraction(str(_capacity(limit))):
                return True
        return False

    def charged(self, limit: tree.Limit, call: OneCall) -> dict[Payer, Fraction] | None:
        """Return what a call charges to whom; None if the amount cannot be counted."""
        charges: dict[Payer, Fraction] = {}
        for one in self._counted(limit, call):
            amount = Fraction(1) if limit.of is None else _amount(self.asked.value(limit.of, one))
            if amount is None:
                return None
            theirs: dict[Payer, Fraction] = {}
            for payer in _payers(limit, one):
                theirs[payer] = theirs.get(payer, Fraction(0)) + amount
            for payer, total in theirs.items():
                charges[payer] = max(charges.get(payer, Fraction(0)), total)
        return charges

    def _counted(self, limit: tree.Limit, call: OneCall) -> Iterator[OneCall]:
        for one in call.caller.chain():
            by_one = replace(call, caller=one)
            if self.binds(one) and self._is_counted(limit, by_one):
                yield by_one

    def _is_counted(self, limit: tree.Limit, call: OneCall) -> bool:
        """Tell whether a call counts; what it leaves out excuses no amount that is not known."""
        if self.asked.matches(limit, call) is not False:
            return True
        if limit.of is None or _amount(self.asked.value(limit.of, call)) is not None:
            return False
        return self.asked.matches(limit, call, absent=None) is not False

    def _payers_of(self, limit: tree.Limit, call: OneCall) -> set[Payer]:
        return {payer for one in self._counted(limit, call) for payer in _payers(limit, one)}

    def _earlier(self, call: OneCall, past: PastCall, before: tuple[PastCall, ...]) -> OneCall:
        return OneCall(
            spec=self.asked.spec_of(past),
            input=past.input,
            caller=_caller(past, call.caller),
            facts=replace(call.facts, now=past.at, history=before),
        )

    def _is_recent(self, limit: tree.Limit, past: PastCall, facts: Facts) -> bool:
        window = _window(limit)
        if window is None or past.at is None or facts.now is None:
            return True
        return max(facts.now - past.at, timedelta(0)) < window


def _caller(past: PastCall, caller: Caller) -> Caller:
    """Return who made an earlier call: an agent of the chain, or another below its root."""
    chain = list(caller.chain())
    user = caller.user if past.user is None else past.user
    if past.agent is None:
        return replace(caller, user=user)
    one = next((each for each in chain if each.agent == past.agent), caller)
    root = None if chain[-1].agent == past.agent else chain[-1]
    return replace(one, agent=past.agent, user=user, parent=root)


def _window(limit: tree.Limit) -> timedelta | None:
    for period in limit.per:
        if isinstance(period, tree.Duration):
            return period.amount * UNITS[period.unit]
        if isinstance(period, str) and period in _WINDOWS:
            return _WINDOWS[period]
    return None


def _capacity(limit: tree.Limit) -> int | Decimal:
    assert isinstance(limit.amount, tree.Number)
    return limit.amount.value


def _amount(value: Any) -> Fraction | None:
    """Return an amount by its digits; None for one that is absent, negative, or no number."""
    if isinstance(value, bool | Lack) or not isinstance(value, int | float | Decimal | Fraction):
        return None
    amount = value if isinstance(value, Fraction) else Fraction(Decimal(str(value)))
    return None if amount < 0 else amount


def _payers(limit: tree.Limit, call: OneCall) -> list[Payer]:
    for period in limit.per:
        if isinstance(period, tree.FieldPath):
            found: Any = call.input
            for step in period.steps:
                found = found.get(step, ABSENT) if hasattr(found, "get") else ABSENT
            items = found if isinstance(found, tuple) else (found,)
            return [name for item in items for name in _names(item)] or [None]
        if period == "user":
            return [call.caller.user]
        if period == "agent":
            return [call.caller.agent]
    return [None]


def _names(value: Any) -> list[Payer]:
    """Return what a value is charged to: an object to itself and to each value in it, once."""
    if not isinstance(value, Mapping):
        return [_spelled(value)]
    inside = [_spelled(item) for item in _scalars(value)]
    return list(dict.fromkeys([_spelled(value), *inside]))


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _scalars(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def _spelled(value: Any) -> Payer:
    if value is None or isinstance(value, Lack):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "".join(filter(str.isalnum, value.lower())) or " ".join(value.lower().split())
    if isinstance(value, int | float):
        return str(Fraction(Decimal(str(value))))
    assert isinstance(value, Mapping)
    return repr(sorted((_spelled(name), _spelled(item)) for name, item in value.items()))
