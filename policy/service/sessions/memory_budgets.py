"""What is charged to budgets, in memory."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from copy import deepcopy
from datetime import datetime, timedelta

from policy.model import Balance, Budget, CalledTool, Charge, TimedAmounts, balance_of
from policy.runtime import Shares
from policy.service.sessions.charging import BudgetCharge, StoredBudget
from policy.service.sessions.session_log import SessionLogUnusable

_MOST_BUDGETS = 100_000
# Looking at all of them takes a while.
_SWEPT_EVERY = timedelta(minutes=1)
_FULL = "there are too many budgets: a limit has one for each of too many values"


class MemoryBudgets:
    """Budgets, each with what was charged to it. Used by one thread at a time.

    A budget that no window reaches any more is dropped once there are many. Beyond `most`, and
    beyond an owner's share of them, charges to a new one raise SessionLogUnusable. A budget is
    its that was the first to charge it.
    """

    def __init__(self, *, most: int = _MOST_BUDGETS) -> None:
        self._most = most
        self._swept_at: datetime | None = None
        self._spent: dict[Budget, dict[CalledTool, TimedAmounts]] = {}
        self._owners: dict[Budget, Hashable] = {}
        self._shares = Shares(most)

    def balance(self, charge: Charge, now: datetime | None) -> Balance:
        """Return the balance of a budget before a charge."""
        spent = self._spent.get(charge.budget, {})
        counted = [amounts for tool, amounts in spent.items() if charge.counts(tool)]
        return balance_of(counted, charge, now)

    def charge(
        self,
        tool: CalledTool,
        at: datetime | None,
        charges: Sequence[BudgetCharge],
        *,
        owner: Hashable = None,
    ) -> None:
        """Charge a call of a tool, whether there is room or not."""
        self._make_room(at, charges, owner)
        for one in charges:
            if one.budget not in self._spent:
                self._owners[one.budget] = owner
                self._shares.take(owner)
            amounts = self._spent.setdefault(one.budget, {}).setdefault(tool, TimedAmounts())
            amounts.add(at, one.amount)
            amounts.fold(one.window, at, ever=one.ever)

    def take_back(
        self, tool: CalledTool, at: datetime | None, charges: Iterable[BudgetCharge]
    ) -> None:
        """Undo a charge that was made."""
        for one in charges:
            amounts = self._spent.get(one.budget, {}).get(tool)
            if amounts is not None:
                amounts.take_back(at, one.amount)

    def add_all(self, other: MemoryBudgets) -> None:
        """Add everything that was charged elsewhere."""
        for budget, tools in other._spent.items():
            for tool, amounts in tools.items():
                into = self._spent.setdefault(budget, {}).setdefault(tool, TimedAmounts())
                into.add_all(amounts)

    def put(self, budget: Budget, tool: CalledTool, amounts: TimedAmounts) -> None:
        """Set what was charged to a budget by calls of a tool."""
        self._spent.setdefault(budget, {})[tool] = amounts

    def all(self) -> Iterator[tuple[Budget, CalledTool, TimedAmounts]]:
        """Yield what was charged to each budget by calls of each tool."""
        for budget, tools in self._spent.items():
            for tool, amounts in tools.items():
                yield budget, tool, amounts

    def stored(self, meters: Container[str]) -> Iterator[StoredBudget]:
        """Yield the budgets of some meters, with what was charged to them by each tool."""
        for budget, tools in self._spent.items():
            if budget.meter in meters:
                spent = {tool: deepcopy(amounts) for tool, amounts in tools.items()}
                yield StoredBudget(budget=budget, spent=spent)

    def _make_room(
        self, now: datetime | None, charges: Iterable[BudgetCharge], owner: Hashable
    ) -> None:
        if len(self._spent) >= self._most // 2 and self._was_swept_before(now):
            self._sweep(now)
        new = {charge.budget for charge in charges if charge.budget not in self._spent}
        if new and not self._shares.has_room(owner, len(new)):
            raise SessionLogUnusable(_FULL)

    def _was_swept_before(self, now: datetime | None) -> bool:
        if now is None:
            return False  # without a clock every charge counts
        return self._swept_at is None or abs(now - self._swept_at) >= _SWEPT_EVERY

    def _sweep(self, now: datetime | None) -> None:
        """Drop the budgets that no window reaches any more."""
        self._swept_at = now
        for budget, tools in list(self._spent.items()):
            if all(amounts.is_spent_before(now) for amounts in tools.values()):
                del self._spent[budget]
                if budget in self._owners:
                    self._shares.give_back(self._owners.pop(budget))
