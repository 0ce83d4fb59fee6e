"""Whether two policies decide some call of one tool differently.

Rules that both have are at first left open: they may match or not, but on both sides alike. If no
call is decided differently even so, none is. Otherwise such a call is sought, and a common rule for
which the engines decide otherwise than expected is read exactly from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from policy.checks import LayerKey, checked
from policy.solving import Clauses, Model, Search, Unsatisfiable
from policy.symbolic import (
    AllCalls,
    AnyPlan,
    Reading,
    RuleReader,
    ShownCalls,
    Situation,
    Subject,
    plans_in,
)
from policy.verify.difference.formula import Formula, Way
from policy.verify.difference.sides import PlanKey, PlanKeys, Side, tests_in
from policy.verify.difference.witness import (
    Witness,
    approval_direction,
    both_decisions,
)
from policy.verify.proof.counterexample import smallest

_MOST_REPLAYS = 60  # calls that the engines decide for one question
_MOST_LEARNED = 8  # common rules from one of them
# How many common rules are read exactly at most, to prove that there is no difference.
_MOST_READ = 200


class Question:
    """What is known of the difference between two policies on one tool.

    `alike` is whether the tool is the same on both sides, fields and facts included; only then, or
    where one side has no such tool, can the absence of a difference be proved.
    """

    def __init__(self, old: Side, new: Side, *, alike: bool, steps: int) -> None:
        spec = new.spec or old.spec
        assert spec is not None, "one of the policies has the tool"
        self._spec = spec
        self._sides = (old, new)
        self._steps = steps
        self._is_provable = alike or old.spec is None or new.spec is None
        self._keys = PlanKeys()
        left, right = self._keys.all_of(old), self._keys.all_of(new)
        self._placed = {_place(plan): key for plans in (left, right) for key, plan in plans.items()}
        self._order = tuple({**left, **right})
        like = {key for key in (layer.key for layer in old.layers) if _declare_alike(old, new, key)}
        self._common = {key for key in left.keys() & right.keys() if key[0] in like}
        self._slots = max(old.program.slots, new.program.slots)
        self._view = new.program.catalog.views.of(spec.schema)
        # Values of fields and facts with which a call may differ.
        self._suggested: dict[Subject, Any] = {}
        # Common rules that turned out to matter.
        self._exactly: set[PlanKey] = set()

    def is_surely_excluded(self, way: Way, layer: LayerKey) -> bool:
        """Return whether no call differs this way, whatever the rules do that both have."""
        return self._is_modelled(layer) and self._has_none(way, layer, exactly=())

    def is_excluded(self, way: Way, layer: LayerKey) -> bool:
        """Return whether no call differs this way, as common rules say; it takes longer."""
        return (
            self._is_modelled(layer)
            and 0 < len(self._common) <= _MOST_READ
            and self._has_none(way, layer, exactly=self._common)
        )

    def witness(self, way: Way, layer: LayerKey) -> Witness | None:
        """Return a call that differs this way, as both engines decide it; None if none is found."""
        replays = _Replays(left=_MOST_REPLAYS)
        while replays.left:
            found = self._sought(way, layer, replays)
            if found is not None or not replays.learned:
                return found
            self._exactly |= replays.learned
            replays.learned = set()
        return None

    def _is_modelled(self, layer: LayerKey) -> bool:
        """Return whether all that a difference may come from is in the formula."""
        old, new = self._sides
        # By inline code, the floor differs.
        is_same_floor = old.permits_inline_code() == new.permits_inline_code()
        return self._is_provable and (is_same_floor or layer.kind != "every")

    def _has_none(self, way: Way, layer: LayerKey, *, exactly: Collection[PlanKey]) -> bool:
        clauses = Clauses()
        reading = AllCalls(
            clauses,
            self._spec,
            self._view,
            tests=self._tests(exactly),
            layers=self._layers(),
            slots=self._slots,
        )
        wanted = self._formula(reading, exactly, exact=False).differs(way, layer)
        with Search(clauses, steps=self._steps) as search:
            if isinstance(search.solve(wanted), Unsatisfiable):
                return True
            found = search.solve([*wanted, reading.ordinary])
            if isinstance(found, Model):
                self._suggested = reading.suggested(found)
            return False

    def _sought(self, way: Way, layer: LayerKey, replays: _Replays) -> Witness | None:
        """Return a call that differs, unless common rules matter that were left open."""
        clauses = Clauses()
        reading = ShownCalls(
            clauses,
            self._spec,
            self._view,
            tests=self._tests(self._exactly),
            layers=self._layers(),
            declared=[each.declared for side in self._sides for each in side.layers],
            slots=self._slots,
            suggested=self._suggested,
        )
        formula = self._formula(reading, self._exactly, exact=True)
        wanted = formula.differs(way, layer)
        decide = self._decide(way, layer)
        with Search(clauses, steps=self._steps) as search:
            # At best, no common rule that was left open matches.
            for assumed in ([*wanted, *formula.silent], wanted):
                while replays.left:
                    model = search.solve(assumed)
                    if not isinstance(model, Model):
                        break
                    replays.left -= 1
                    situation, chosen = reading.shown(model)
                    found = decide(situation)
                    if found is not None:
                        return smallest(found, decide, reading.values_of)
                    replays.learned = self._misjudged(situation, layer, formula.matching(model))
                    if replays.learned:
                        return None
                    search.require(*(-literal for literal in chosen))
        return None

    def _formula(self, reading: Reading, exactly: Collection[PlanKey], *, exact: bool) -> Formula:
        return Formula(
            self._sides,
            reading,
            RuleReader(reading, exact=exact),
            keys=self._keys,
            common=self._common,
            exactly=exactly,
        )

    def _decide(self, way: Way, layer: LayerKey) -> Callable[[Situation], Witness | None]:
        """Return the test of whether a call differs this way, by both engines."""

        def decided(situation: Situation) -> Witness | None:
            found = self._replayed(situation, layer)
            return found if found is not None and _differs(way, found) else None

        return decided

    def _replayed(self, situation: Situation, layer: LayerKey) -> Witness | None:
        old, new = (side.program for side in self._sides)
        return both_decisions(old, new, situation, layer)

    def _misjudged(
        self, situation: Situation, layer: LayerKey, expected: frozenset[PlanKey]
    ) -> set[PlanKey]:
        """Return common rules, left open, that match a call against expectation or do not."""
        found = self._replayed(situation, layer)
        if found is None:
            return set()
        reasons = (*found.before.reasons, *found.after.reasons)
        matching = {self._placed.get((one.layer, one.file, one.line, one.rule)) for one in reasons}
        left_open = self._common - self._exactly
        wrong = (key for key in self._order if (key in matching) != (key in expected))
        learned = [key for key in wrong if key in left_open]
        return set(learned[:_MOST_LEARNED])

    def _tests(self, exactly: Collection[PlanKey]) -> Iterator[checked.Test]:
        """Yield the tests of the rules that are read."""
        for side in self._sides:
            for layer in side.layers:
                for plan in plans_in(layer):
                    key = self._keys.of(layer, plan)
                    if key not in self._common or key in exactly:
                        yield from tests_in(plan)

    def _layers(self) -> tuple[LayerKey, ...]:
        return tuple(dict.fromkeys(each.key for side in self._sides for each in side.layers))


@dataclass(slots=True)
class _Replays:
    """How many more calls may be decided, and which common rules have turned out to matter."""

    left: int
    learned: set[PlanKey] = field(default_factory=set)


def _differs(way: Way, found: Witness) -> bool:
    before, after = found.before.verdict, found.after.verdict
    match way:
        case "looser":
            return after < before
        case "tighter":
            return after > before
        case "approval":
            return approval_direction(found.before, found.after) != "none"


def _declare_alike(old: Side, new: Side, key: LayerKey) -> bool:
    left, right = old.layer(key), new.layer(key)
    return left is not None and right is not None and left.declared.says_the_same(right.declared)


def _place(plan: AnyPlan) -> tuple[object, ...]:
    reason = plan.reason
    return reason.layer, reason.file, reason.line, reason.rule
