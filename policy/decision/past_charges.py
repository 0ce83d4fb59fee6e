"""What the earlier calls of a session tree have charged, worked out from the calls themselves.

A service keeps this in its log. This is for the tests of rule files, and for decisions whose
earlier calls are passed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from policy.catalog import Origin, ToolSpec
from policy.decision.charges import Charged, Uncountable, charges_of
from policy.model import (
    NO_TIME,
    Balance,
    Budget,
    CalledTool,
    Caller,
    Charge,
    Facts,
    History,
    PastCall,
    TimedAmounts,
    balance_of,
    history_of,
    window_start,
)
from policy.program import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class _NotCounted:
    """An earlier call whose amount is not known: it may have used any part of its budgets."""

    tool: CalledTool
    at: datetime
    found: Uncountable


class PastCharges:
    """The budgets of one session tree, as its earlier calls left them.

    Every call counts, whatever came of it. Each is charged by the limits in force now, with the
    facts and the history of its own time. `as_of` is the time where the facts have none.
    """

    def __init__(
        self,
        program: Program,
        calls: tuple[PastCall, ...],
        *,
        caller: Caller,
        facts: Facts,
        as_of: datetime | None = None,
    ) -> None:
        self._program = program
        self._calls = calls
        self._caller = caller
        self._facts = facts
        self._as_of = as_of
        self._amounts: dict[Budget, dict[CalledTool, TimedAmounts]] | None = None
        self._not_counted: list[_NotCounted] = []

    def balance(self, charge: Charge, now: datetime | None) -> Balance:
        """Return the balance of a budget before a charge."""
        if self._amounts is None:
            self._amounts = {}
            self._count_all(self._amounts)
        now = now or self._as_of
        start = window_start(charge.window, now)
        for each in self._not_counted:
            if each.at > start and each.found.concerns(charge.budget) and charge.counts(each.tool):
                why = f"the amount of an earlier call of `{each.tool.name}` {each.found.why}"
                return Balance(used=None, wait=None, unknown=why)
        spent = self._amounts.get(charge.budget, {})
        counted = (amounts for tool, amounts in spent.items() if charge.counts(tool))
        return balance_of(counted, charge, now)

    def _count_all(self, amounts: dict[Budget, dict[CalledTool, TimedAmounts]]) -> None:
        for past, charged in self._charged():
            at = past.at or NO_TIME
            # Two limits that share a budget count a call once.
            for budget, amount in {one.budget: one.amount for one in charged.charges}.items():
                tools = amounts.setdefault(budget, {})
                tools.setdefault(past.called, TimedAmounts()).add(past.at, amount)
            for found in charged.uncountable:
                self._not_counted.append(_NotCounted(tool=past.called, at=at, found=found))

    def _charged(self) -> Iterator[tuple[PastCall, Charged]]:
        before: tuple[PastCall, Charged] | None = None
        for place, past in enumerate(self._calls):
            # The same call many times charges the same, unless it looks at the calls before it.
            if before is not None and before[0] is past:
                yield before
                continue
            recall = _Recall(self._calls, place)
            resolvers = replace(self._facts.resolvers, history=recall, balance=None)
            facts = replace(self._facts, now=past.at, history=None, resolvers=resolvers)
            caller = caller_of(past, self._caller)
            spec = self._program.catalog.get(past.tool) or _gone(past)
            charged = charges_of(self._program, spec, past.input, caller=caller, facts=facts)
            before = None if recall.was_asked else (past, charged)
            yield past, charged


class _Recall:
    """The history of one of the calls: those before it."""

    def __init__(self, calls: tuple[PastCall, ...], place: int) -> None:
        self._calls = calls
        self._place = place
        self.was_asked = False

    def __call__(self) -> History:
        """Return the calls before this one."""
        self.was_asked = True
        return history_of(self._calls[: self._place])


def caller_of(past: PastCall, caller: Caller) -> Caller:
    """Return who made an earlier call of this caller's session tree, as far as that is known.

    Where only the agent is known, the root of the tree is above it.
    """
    user = caller.user if past.user is None else past.user
    if past.agent is None and not past.chain:
        return caller if user == caller.user else replace(caller, user=user)
    known = list(caller.chain())
    agents = past.chain or (past.agent or caller.agent,)
    above = None if past.chain or known[-1].agent in agents else known[-1]
    for agent in reversed(agents):
        one = next((each for each in known if each.agent == agent), caller)
        above = replace(one, agent=agent, user=user, parent=above)
    assert above is not None
    return above


def _gone(past: PastCall) -> ToolSpec:
    """Return a tool that the catalogue does not have any more."""
    kind = past.origin or "host"
    prefix = "" if kind == "host" else Origin(kind=kind, server=past.server).flat_name()
    own = past.tool.removeprefix(prefix)
    return ToolSpec(name=past.tool, origin=Origin(kind=kind, server=past.server, tool=own))
