"""How charges are made: to all budgets of a call, or to none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

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


def have_room(charges: Iterable[Charge], balance: Callable[[Charge], Balance]) -> bool:
    """Return whether every budget has room for its charge; a shadow limit needs none."""
    return all(charge.reason.shadow or balance(charge).has_room for charge in charges)


def amounts_of(charges: Iterable[Charge]) -> dict[Budget, Amount]:
    """Return what is charged to each budget; limits that share one charge it once."""
    amounts: dict[Budget, Amount] = {}
    for charge in charges:
        amounts[charge.budget] = max(amounts.get(charge.budget, 0), charge.amount)
    return amounts
