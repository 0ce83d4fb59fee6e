"""Judges a call by its limits: whether every budget that it charges has room for it.

Limits are asked after the rules, and only about calls that these do not deny. They deny or do
nothing. What a rewrite changes is judged as asked and as it would run, and charged as it would run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, inf

from msgspec import structs

from policy.decision.charges import Uncountable, charges_of
from policy.decision.ordering import in_order
from policy.decision.past_charges import PastCharges
from policy.model import (
    Balance,
    BalanceOf,
    Caller,
    Charge,
    Decision,
    Facts,
    LimitUse,
    Reason,
    Verdict,
)
from policy.program import Program

_UNKNOWN = "how much of this limit is used is not known"
_USED_UP = "a limit is used up"


def with_limits(program: Program, decision: Decision, *, caller: Caller, facts: Facts) -> Decision:
    """Return the decision with what limits say of the call, and what it charges if it runs."""
    spec = program.catalog.get(decision.call.tool)
    if spec is None or decision.verdict is Verdict.DENY:
        return decision
    inputs = [decision.call.input]
    if decision.rewritten:
        inputs.append(decision.asked.input)
    final, *others = [
        charges_of(program, spec, input, caller=caller, facts=facts) for input in inputs
    ]
    balance = _balance_of(program, caller=caller, facts=facts)
    found = _Refusals()
    for charged in (final, *others):
        for problem in charged.uncountable:
            found.add(_uncountable(problem))
        for charge in charged.charges:
            state = _asked(balance, charge, facts)
            if not state.has_room:
                found.add(_refusal(charge, state))
    return _joined(decision, found, charges=final.charges)


def _joined(decision: Decision, found: _Refusals, *, charges: tuple[Charge, ...]) -> Decision:
    reasons = [reason for reason in found if not reason.shadow]
    shadowed = [reason for reason in found if reason.shadow]
    verdict = Verdict.DENY if reasons else decision.verdict
    return structs.replace(
        decision,
        verdict=verdict,
        reasons=in_order((*decision.reasons, *reasons), verdict) if reasons else decision.reasons,
        shadowed=tuple(dict.fromkeys((*decision.shadowed, *shadowed))),
        charges=charges,
    )


class _Refusals:
    """The reasons of limits: one for each, that of the budget for which one waits longest."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str | None], Reason] = {}

    def __iter__(self) -> Iterator[Reason]:
        return iter(self._found.values())

    def add(self, reason: Reason) -> None:
        """Add a reason, unless the same limit has one that outlasts it."""
        key = reason.rule, reason.layer
        known = self._found.get(key)
        if known is None or _outlasts(reason, known):
            self._found[key] = reason


def _outlasts(reason: Reason, known: Reason) -> bool:
    return _lasts(reason) > _lasts(known)


def _lasts(reason: Reason) -> float:
    return inf if reason.limit is None or reason.limit.wait is None else reason.limit.wait


# ------------------------------------------------------------------ balances


def _balance_of(program: Program, *, caller: Caller, facts: Facts) -> BalanceOf | None:
    """Return what tells what is left of budgets; None where nothing does."""
    if isinstance(facts.history, tuple):
        past = PastCharges(program, facts.history, caller=caller, facts=facts)
        return past.balance
    return facts.resolvers.balance


def _asked(balance: BalanceOf | None, charge: Charge, facts: Facts) -> Balance:
    if charge.amount > charge.capacity:
        return Balance(used=None, wait=None)
    if balance is None:
        return Balance(used=None, wait=None, unknown=_UNKNOWN)
    try:
        return balance(charge, facts.now)
    except Exception:  # noqa: BLE001 - whatever the host's answer raises, there is no answer
        return Balance(used=None, wait=None, unknown=_UNKNOWN)


# ------------------------------------------------------------------ reasons


def _refusal(charge: Charge, state: Balance) -> Reason:
    use = LimitUse(used=state.used, capacity=charge.capacity, wait=state.wait)
    if state.unknown is not None:
        return replace(charge.reason, undecided=state.unknown, limit=use)
    said = f"{charge.reason.message or _USED_UP}; {_until(charge, state)}"
    return replace(charge.reason, message=said, limit=use)


def _until(charge: Charge, state: Balance) -> str:
    if charge.amount > charge.capacity:
        return "this call alone is more than it allows"
    if state.wait is None:
        return "it does not become free with time"
    seconds = ceil(state.wait)
    return f"there is room again in {seconds} second{'' if seconds == 1 else 's'}"


def _uncountable(found: Uncountable) -> Reason:
    reason = found.plan.reason
    why, unknown, detail = found.why.partition(": ")
    message = f"the amount that a limit counts {why}"
    if reason.message is not None:
        # The cause first: the author may have written only of a limit that is used up.
        message = f"{message}; {reason.message}"
    if not unknown:
        return replace(reason, message=message)
    # The detail may quote the call, which a message does not.
    return replace(reason, message=message, undecided=detail, doubt="values")
