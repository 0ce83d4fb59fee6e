"""How much of each limit of a policy is used, for each of its budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from policy.checks import checked
from policy.evaluation import tool_matcher
from policy.generation import Generation
from policy.model import Amount, Charge, Reason, Verdict, balance_of, exact_difference, window_start
from policy.service import StoredBudget


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUse:
    """One budget of a limit: for whom it is, and how much of it is used.

    `payer` is the agent, user or value; None where it is absent, or the limit has none. `sessions`
    are those of its session tree, as (user, session). `frees` is how many seconds it takes until
    something of it no longer counts; None where nothing does with time.
    """

    payer: str | None
    sessions: tuple[tuple[str | None, str], ...]
    used: Amount
    left: Amount
    frees: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUses:
    """A limit, and its budgets of which something is used, the fullest first."""

    limit: checked.CheckedLimit
    budgets: tuple[BudgetUse, ...]


def meters_of(generation: Generation) -> tuple[str, ...]:
    """Return the meters of all limits of a policy."""
    return tuple(limit.meter for limit in _limits(generation))


def limit_uses(
    generation: Generation, stored: Iterable[StoredBudget], *, now: datetime
) -> tuple[LimitUses, ...]:
    """Return what is used of each limit, in the order of the rules."""
    stored = tuple(stored)
    return tuple(
        LimitUses(limit=limit, budgets=tuple(sorted(_uses(limit, stored, now), key=_fullest)))
        for limit in _limits(generation)
    )


def _limits(generation: Generation) -> Iterator[checked.CheckedLimit]:
    for layer in generation.program.policy.layers:
        yield from layer.limits


def _fullest(use: BudgetUse) -> tuple[Amount, str]:
    return use.left, use.payer or ""


def _uses(
    limit: checked.CheckedLimit, stored: tuple[StoredBudget, ...], now: datetime
) -> Iterator[BudgetUse]:
    counts = tool_matcher(limit.tools)
    start = window_start(limit.window, now)
    for each in stored:
        if each.budget.meter != limit.meter:
            continue
        spent = [amounts for tool, amounts in each.spent.items() if counts(tool)]
        charge = Charge(
            budget=each.budget,
            amount=0,
            capacity=limit.capacity,
            window=limit.window,
            counts=counts,
            reason=Reason(rule=limit.id, verdict=Verdict.DENY),
        )
        used = balance_of(spent, charge, now).used
        if not used:
            continue
        times = [at for one in spent for at, _ in one.after(start)]
        yield BudgetUse(
            payer=each.budget.value,
            sessions=each.sessions,
            used=used,
            left=exact_difference(limit.capacity, used),
            frees=_frees(limit, times, now),
        )


def _frees(limit: checked.CheckedLimit, times: list[datetime], now: datetime) -> float | None:
    """Return the seconds until the oldest of the charges no longer counts."""
    if limit.window is None or not times:
        return None
    try:
        return max((min(times) + limit.window - now).total_seconds(), 0)
    except OverflowError:
        return None
