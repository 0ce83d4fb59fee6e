"""How charges are made: to all budgets of a call, or to none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from policy.model import Amount, Balance, Budget, CalledTool, Charge, Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBudget:
    """A budget, and what calls of each tool have charged to it.

    `tree` tells the session trees apart that have a budget of their own. `sessions` are those of
    the tree, as (user, session), where they are known.
    """

    budget: Budget
    spent: Mapping[CalledTool, Spending]
    tree: int = 0
    sessions: tuple[tuple[str | None, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetCharge:
    """What a call charges to one budget, and the longest window that is asked about.

    `window` None: no limit on it has one. `ever`: some limit on it counts charges of any age.
    """

    budget: Budget
    amount: Amount
    window: timedelta | None
    ever: bool


def have_room(charges: Iterable[Charge], balance: Callable[[Charge], Balance]) -> bool:
    """Return whether every budget has room for its charge; a shadow limit needs none."""
    return all(charge.reason.shadow or balance(charge).has_room for charge in charges)


def by_budget(charges: Iterable[Charge]) -> tuple[BudgetCharge, ...]:
    """Return what is charged to each budget; limits that share one charge it once."""
    found: dict[Budget, list[Charge]] = {}
    for charge in charges:
        found.setdefault(charge.budget, []).append(charge)
    return tuple(
        BudgetCharge(
            budget=budget,
            amount=max(one.amount for one in shared),
            window=max((one.window for one in shared if one.window is not None), default=None),
            ever=any(one.window is None for one in shared),
        )
        for budget, shared in found.items()
    )
