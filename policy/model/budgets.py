"""Budgets: what limits count, what one call charges to them, and what is left.

Amounts are exact: an int, or a Decimal with all its digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from heapq import merge
from operator import itemgetter
from typing import Protocol, TypeAlias

from policy.model.past_calls import CalledTool
from policy.model.reason import Reason

Amount: TypeAlias = int | Decimal

# A charge whose time is not known counts in every window.
NO_TIME = datetime.max.replace(tzinfo=UTC)
_BEGINNING = datetime.min.replace(tzinfo=UTC)
# The largest and the smallest double add up to fewer digits; a longer sum is an error.
_EXACT = Context(prec=2_000, traps=[Inexact, InvalidOperation, Overflow])


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a limit counts, for one user, agent or value: charges to it add up.

    `meter` identifies what is counted and for whom, but neither the limit's name nor how much it
    allows in which time: those may be edited, and what was used stays used. `value` is the user,
    agent or field value in canonical form; None where it is absent, or the limit has none.
    `of_tree`: each session tree has a budget of its own.
    """

    meter: str
    value: str | None = None
    of_tree: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one call charges to one budget under one limit.

    At most `capacity` may be charged in a `window` (None: ever) by calls of the tools that `counts`
    holds for. `reason` is the limit's; a shadow limit counts and stops nothing. Two limits that
    share a budget make two charges of it, which count once.
    """

    budget: Budget
    amount: Amount
    capacity: Amount
    window: timedelta | None
    counts: Callable[[CalledTool], bool] = field(repr=False)
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How much of a budget is used in a limit's window, and whether a charge has room.

    `wait` is how many seconds it takes until there is room, 0 where there is, None where time alone
    makes none. `unknown` is why what was used is not known; then there is no room.
    """

    used: Amount | None
    wait: float | None
    unknown: str | None = None

    @property
    def has_room(self) -> bool:
        """Whether the charge can be made now."""
        return self.wait == 0 and self.unknown is None


# The balance of a charge at a time; `now` None: the time is not known.
BalanceOf: TypeAlias = Callable[[Charge, datetime | None], Balance]


class Spending(Protocol):
    """What calls of one tool have charged to one budget, in the order of time."""

    def total(self) -> Amount:
        """Return everything that was charged."""
        ...

    def until(self, moment: datetime) -> Amount:
        """Return what was charged at this moment or before, as far as that is known."""
        ...

    def after(self, moment: datetime) -> Iterator[tuple[datetime, Amount]]:
        """Yield the charges after a moment, oldest first."""
        ...


def exact_sum(*amounts: Amount) -> Amount:
    """Return the sum of amounts; raise Inexact or Overflow where it has too many digits."""
    total: Amount = 0
    for amount in amounts:
        if isinstance(total, int) and isinstance(amount, int):
            total += amount
        else:
            total = _EXACT.add(total, amount)
    return total


def exact_difference(amount: Amount, less: Amount) -> Amount:
    """Return `amount` less another."""
    return exact_sum(amount, -less if isinstance(less, int) else less.copy_negate())


def balance_of(spendings: Iterable[Spending], charge: Charge, now: datetime | None) -> Balance:
    """Return the balance of a budget, given what was charged to it by each tool that counts.

    A charge counts while its age is less than the window; one from the future has the age zero.
    Without a clock everything counts.
    """
    spent = list(spendings)
    start = window_start(charge.window, now)
    used = exact_sum(*(exact_difference(one.total(), one.until(start)) for one in spent))
    over = exact_difference(exact_sum(used, charge.amount), charge.capacity)
    if over <= 0:
        return Balance(used=used, wait=0)
    return Balance(used=used, wait=_wait(spent, charge, now, start=start, over=over))


def nothing_used(charge: Charge, now: datetime | None) -> Balance:
    """Return the balance of a budget to which nothing was charged, for calls that try rules."""
    return balance_of((), charge, now)


def window_start(window: timedelta | None, now: datetime | None) -> datetime:
    """Return the moment after which charges count."""
    if window is None or now is None:
        return _BEGINNING
    try:
        return now - window
    except OverflowError:
        return _BEGINNING


def _wait(
    spent: list[Spending], charge: Charge, now: datetime | None, *, start: datetime, over: Amount
) -> float | None:
    """Return the seconds until enough of the charges in the window no longer count."""
    if charge.window is None or now is None or charge.amount > charge.capacity:
        return None
    freed: Amount = 0
    for at, amount in merge(*(one.after(start) for one in spent), key=itemgetter(0)):
        freed = exact_sum(freed, amount)
        if freed >= over:
            try:
                return max((at + charge.window - now).total_seconds(), 0.001)
            except OverflowError:
                return None
    return None
