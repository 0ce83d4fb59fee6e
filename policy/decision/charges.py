"""What one call charges to the budgets of limits, for every caller of its chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from policy.catalog import ToolSpec
from policy.evaluation import ABSENT, Evaluation, Indeterminate, Value
from policy.model import Amount, Budget, Caller, Charge, Facts, exact_sum
from policy.program import LimitPlan, Program
from policy.values import is_number

# More digits than those of the largest and the smallest double are no amount.
_MOST_DIGITS = 400
_TOO_LARGE = 10**_MOST_DIGITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncountable:
    """Why the amount that a limit counts of a call cannot be charged, and to which budgets.

    `budgets` None: to any of the limit.
    """

    plan: LimitPlan
    why: str
    budgets: tuple[Budget, ...] | None

    def concerns(self, budget: Budget) -> bool:
        """Return whether the call would have charged a budget, or may have."""
        if self.budgets is None:
            return budget.meter == self.plan.limit.meter
        return budget in self.budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """What a call charges; with an `uncountable` amount it must not run."""

    charges: tuple[Charge, ...] = ()
    uncountable: tuple[Uncountable, ...] = ()


def charges_of(
    program: Program, spec: ToolSpec, input: Mapping[str, Any], *, caller: Caller, facts: Facts
) -> Charged:
    """Return what a call with this input charges.

    A limit whose condition is indeterminate counts the call. An amount that cannot be counted is
    excused only by a condition that is false whatever the values are that the call leaves out. A
    budget that several callers of the chain would charge is charged once.
    """
    charges: dict[tuple[int, Budget], Charge] = {}
    uncountable: dict[tuple[int, str], Uncountable] = {}
    root = Evaluation(spec, input, caller=caller, facts=facts, slots=program.slots)
    for one in caller.chain():
        call = root if one is caller else root.for_caller(one)
        layers = program.plan(spec, agent=one.agent, role=one.role).layers
        for plan in (limit for layer in layers for limit in layer.limits):
            matches = plan.matches(call) is not False
            if not matches and plan.amount is None:
                continue
            amount = _amount(plan, call)
            if not matches and (not isinstance(amount, str) or plan.may_match(call) is False):
                continue
            budgets = _budgets(plan, call)
            if isinstance(budgets, str):
                why = amount if isinstance(amount, str) else budgets
                uncountable[id(plan), why] = Uncountable(plan=plan, why=why, budgets=None)
                continue
            if isinstance(amount, str):
                uncountable[id(plan), amount] = Uncountable(plan=plan, why=amount, budgets=budgets)
                continue
            for charge in _charges(plan, budgets, amount):
                key = id(plan), charge.budget
                known = charges.get(key)
                if known is None or known.amount < charge.amount:
                    charges[key] = charge
    return Charged(charges=tuple(charges.values()), uncountable=tuple(uncountable.values()))


def _charges(plan: LimitPlan, budgets: Iterable[Budget], amount: Amount) -> Iterator[Charge]:
    """Yield the charges for one caller; a value that stands twice in a list is charged twice."""
    amounts: dict[Budget, Amount] = {}
    for budget in budgets:
        amounts[budget] = exact_sum(amounts.get(budget, 0), amount)
    for budget, total in amounts.items():
        yield Charge(
            budget=budget,
            amount=total,
            capacity=plan.limit.capacity,
            window=plan.limit.window,
            counts=plan.counts,
            reason=plan.reason,
        )


def _budgets(plan: LimitPlan, call: Evaluation) -> tuple[Budget, ...] | str:
    """Return the budgets that a call charges for one caller, or why they are not known."""
    payers = plan.payers(call)
    if isinstance(payers, str):
        return payers
    meter, of_tree = plan.limit.meter, plan.limit.scope == "session"
    return tuple(Budget(meter=meter, value=payer, of_tree=of_tree) for payer in payers)


def _amount(plan: LimitPlan, call: Evaluation) -> Amount | str:
    """Return what the call charges, or why that cannot be counted."""
    return 1 if plan.amount is None else countable(plan.amount(call))


def countable(value: Value) -> Amount | str:
    """Return a value as an exact amount, or what keeps it from being one."""
    if value is ABSENT:
        return "is absent"
    if isinstance(value, Indeterminate):
        return f"is not known: {value.why}"
    if not is_number(value) or (isinstance(value, float) and not isfinite(value)):
        return "is not a number"
    amount: Amount = Decimal(repr(value)) if isinstance(value, float) else value
    if isinstance(amount, Decimal):
        if not amount.is_finite():
            return "is not a number"
        exponent = amount.as_tuple().exponent
        if not isinstance(exponent, int) or exponent < -_MOST_DIGITS:
            return "has too many digits"
    if amount < 0:
        return "is negative"
    return "has too many digits" if amount >= _TOO_LARGE else amount
