"""The calls of one tool that two policies decide differently, as a formula."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

from policy.checks import LayerKey
from policy.model import Reason, Verdict
from policy.program import LayerPlan
from policy.solving import Model
from policy.symbolic import (
    AnyPlan,
    Reading,
    RuleReader,
    Truths,
    VerdictLiterals,
    always_denied,
    is_grant,
    is_restricted,
    plans_in,
    unknown,
    verdict_of,
)
from policy.verify.difference.approvals import includes
from policy.verify.difference.sides import PlanKey, PlanKeys, Side

# How a decision may differ: its verdict, or what must be approved of a call that both ask about:
# `approval`, not all of what was; `more-approval`, what was not.
Way: TypeAlias = Literal["looser", "tighter", "approval", "more-approval"]
WAYS: tuple[Way, ...] = get_args(Way)


class Formula:
    """Two policies on one tool, read for the same calls.

    `common` are the rules that both have, of which only those in `exactly` are read; the others may
    match or not. `silent` are the literals that none of them does.
    """

    def __init__(
        self,
        sides: tuple[Side, Side],
        reading: Reading,
        rules: RuleReader,
        *,
        keys: PlanKeys,
        common: Collection[PlanKey],
        exactly: Collection[PlanKey],
    ) -> None:
        self._sides = sides
        self._reading = reading
        self._rules = rules
        self._keys = keys
        self._common = common
        self._exactly = exactly
        self._known: dict[PlanKey, Truths] = {}
        # Those of rules that one side has alone, by the side's layer.
        self._own: dict[tuple[int, PlanKey], Truths] = {}
        self._granting: set[PlanKey] = set()
        self.silent: list[int] = []
        self._verdicts = tuple(self._verdict(side) for side in sides)

    def differs(self, way: Way, key: LayerKey) -> list[int]:
        """Return literals that all hold where a layer's changed statements make a difference."""
        return [self._reading.applies(key), self._matters(key), self._way(way)]

    def passes_now(self) -> int:
        """Return the literal that the new policy does not deny the call."""
        return -self._verdicts[1].denies

    def matching(self, model: Model) -> frozenset[PlanKey]:
        """Return the common rules, left open, that match in an assignment."""
        return frozenset(
            key
            for key, truths in self._known.items()
            if key not in self._exactly and self._matches_in(key, truths, model)
        )

    def _matches_in(self, key: PlanKey, truths: Truths, model: Model) -> bool:
        if key in self._granting:
            return truths.holds in model.holding
        return truths.fails not in model.holding

    def _way(self, way: Way) -> int:
        clauses = self._reading.clauses
        old, new = self._verdicts
        strict, mild = (old, new) if way in ("looser", "approval") else (new, old)
        if way in ("approval", "more-approval"):
            both = [old.restricts, -old.denies, new.restricts, -new.denies]
            return clauses.all_of([*both, self._asks_for_more(strict, mild)])
        return clauses.any_of(
            clauses.all_of([strict.at_least(verdict), -mild.at_least(verdict)])
            for verdict in (Verdict.ASK, Verdict.DENY)
        )

    def _asks_for_more(self, strict: VerdictLiterals, mild: VerdictLiterals) -> int:
        """Return the literal that an approval is asked for which the other's do not include."""
        clauses = self._reading.clauses
        return clauses.any_of(
            clauses.all_of(
                [asked, *(-other for kept, other in mild.asks.items() if includes(kept, terms))]
            )
            for terms, asked in strict.asks.items()
        )

    def _matters(self, key: LayerKey) -> int:
        """Return the literal that something matches which only one side has in this layer."""
        clauses = self._reading.clauses
        old, new = (side.layer(key) for side in self._sides)
        if old is None or new is None or not are_alike(old, new) or self._is_another_tool():
            return clauses.true
        return clauses.any_of(
            truths.holds if is_grant(plan) else is_restricted(plan, truths, clauses)
            for layer in (old, new)
            for plan in plans_in(layer)
            if self._keys.of(layer, plan) not in self._common
            for truths in [self._truth(layer, plan)]
        )

    def _is_another_tool(self) -> bool:
        """Return whether the tool differs: a verdict depends on more of it than rules read."""
        before, after = (side.spec for side in self._sides)
        return before is not after and before != after

    def _verdict(self, side: Side) -> VerdictLiterals:
        if side.spec is None:
            return always_denied(self._reading.clauses)
        return verdict_of(side.spec, side.layers, self._reading, self._truth)

    def _truth(self, layer: LayerPlan, plan: AnyPlan) -> Truths:
        key = self._keys.of(layer, plan)
        if key not in self._common:
            own = self._own.get((id(layer), key))
            if own is None:
                own = self._own[id(layer), key] = self._rules(layer, plan)
            return own
        found = self._known.get(key)
        if found is None:
            if key in self._exactly:
                found = self._rules(layer, plan)
            else:
                found = unknown(self._reading.clauses)
                self.silent += (-found.holds, found.fails)
            self._known[key] = found
            if is_grant(plan):
                self._granting.add(key)
        return found


def are_alike(old: LayerPlan, new: LayerPlan) -> bool:
    """Return whether two plans of a layer differ in nothing but rules."""
    return (
        _verdict_of(old.default) == _verdict_of(new.default)
        and old.named_default == new.named_default
        and old.delegated_to == new.delegated_to
    )


def _verdict_of(default: Reason | None) -> Verdict | None:
    return None if default is None else default.verdict
