"""`CommonRules`: the rules about a tool that two policies share, and which matter to a call."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from policy.checks import LayerKey, checked
from policy.model import Reason
from policy.program import LayerPlan
from policy.symbolic import AnyPlan, plans_in
from policy.verify.difference.formula import are_alike
from policy.verify.difference.sides import PlanKey, PlanKeys, Side, tests_in
from policy.verify.difference.witness import Witness

_MOST_LEARNED = 8  # common rules from one call


class CommonRules:
    """The rules of two sides; those in `keys_of_both` are common to them."""

    def __init__(self, old: Side, new: Side) -> None:
        self._sides = (old, new)
        self.keys = PlanKeys(old, new)
        plans = [self.keys.all_of(side) for side in self._sides]
        self._placed = [{_place(plan.reason): key for key, plan in each.items()} for each in plans]
        self._order = tuple({**plans[0], **plans[1]})
        like = {key for key in (layer.key for layer in old.layers) if _declare_alike(old, new, key)}
        both = plans[0].keys() & plans[1].keys()
        self.keys_of_both = frozenset(key for key in both if key[0] in like)

    @property
    def others(self) -> int:
        """How many rules only one side has."""
        return len(self._order) - len(self.keys_of_both)

    @property
    def layers(self) -> tuple[LayerKey, ...]:
        """The layers of both sides."""
        return tuple(dict.fromkeys(each.key for side in self._sides for each in side.layers))

    def tests(self, exactly: Collection[PlanKey]) -> Iterator[checked.Test]:
        """Yield the tests of rules that one side has alone, and of common rules in `exactly`."""
        for side in self._sides:
            for layer in side.layers:
                for plan in plans_in(layer):
                    key = self.keys.of(layer, plan)
                    if key not in self.keys_of_both or key in exactly:
                        yield from tests_in(plan)

    def changed(self, layer: LayerKey) -> Iterator[list[tuple[LayerPlan, AnyPlan]]]:
        """Yield, for each side, the rules of a layer that only it has."""
        for each in (side.layer(layer) for side in self._sides):
            yield [
                (each, plan)
                for plan in (plans_in(each) if each else ())
                if each and self.keys.of(each, plan) not in self.keys_of_both
            ]

    def are_about(self, found: Witness, layer: LayerKey) -> bool:
        """Return whether a rule that changed in a layer matches a call, as far as rules tell."""
        old, new = (side.layer(layer) for side in self._sides)
        if old is None or new is None or not are_alike(old, new):
            return True
        if self._sides[0].spec != self._sides[1].spec:
            return True
        return any(
            reason.layer == layer.title and key not in self.keys_of_both
            for key, reason in self._reasons(found)
            if reason.rule != "default"
        )

    def misjudged(
        self, found: Witness, *, expected: Collection[PlanKey], exactly: Collection[PlanKey]
    ) -> frozenset[PlanKey]:
        """Return common rules that match a call although not expected, or the other way round.

        Those in `exactly` have been read, so that they are never misjudged.
        """
        matching = {key for key, _ in self._reasons(found)}
        left_open = self.keys_of_both - frozenset(exactly)
        wrong = (key for key in self._order if (key in matching) != (key in expected))
        return frozenset([key for key in wrong if key in left_open][:_MOST_LEARNED])

    def _reasons(self, found: Witness) -> Iterator[tuple[PlanKey | None, Reason]]:
        """Yield the reasons of both decisions, each with the key of its rule, if it is one."""
        for placed, decision in zip(self._placed, (found.before, found.after), strict=True):
            yield from ((placed.get(_place(reason)), reason) for reason in decision.reasons)


def _declare_alike(old: Side, new: Side, key: LayerKey) -> bool:
    left, right = old.layer(key), new.layer(key)
    return left is not None and right is not None and left.declared.says_the_same(right.declared)


def _place(reason: Reason) -> tuple[object, ...]:
    return reason.layer, reason.file, reason.line, reason.rule, reason.verdict
