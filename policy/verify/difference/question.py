"""Whether two policies decide some call of one tool differently.

Rules that both have are at first left open: they may match or not, but on both sides alike. If no
call is decided differently even so, none is. Otherwise such a call is sought, and a common rule for
which the engines decide otherwise than expected is read exactly from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from policy.checks import LayerKey, checked
from policy.model import Reason
from policy.program import LayerPlan, RewritePlan
from policy.solving import Clauses, Model, Search, Unsatisfiable
from policy.symbolic import (
    AllCalls,
    AnyPlan,
    Reading,
    RuleReader,
    ShownCalls,
    Situation,
    Subject,
    accepted_input,
    plans_in,
)
from policy.verify.difference.formula import WAYS, Formula, Way, are_alike
from policy.verify.difference.sides import PlanKey, PlanKeys, Side, tests_in
from policy.verify.difference.witness import (
    Witness,
    approval_direction,
    both_decisions,
)
from policy.verify.proof.replay import smallest

_MOST_REPLAYS = 48  # calls that the engines decide for one question
_IN_A_ROW = 12  # of them before common rules are read that turned out to matter
_MOST_LEARNED = 8  # common rules from one of them
# Changed rules of a tool from which on a call is sought before a proof that there is none.
_LARGE = 10
# How many common rules are read exactly at most, to prove that there is no difference.
_MOST_READ = 200
# Values of a field that a rewrite changes: it may suit one, and deny the others.
_OF_EACH_TYPE: tuple[Any, ...] = ("a", 1, 1_000_000_000, -1_000_000_000, True, (), None)


_Reading = TypeVar("_Reading", AllCalls, ShownCalls)


class Question:
    """What is known of the difference between two policies on one tool.

    `alike` is whether the tool is the same on both sides, fields and facts included; only then, or
    where one side has no such tool, can the absence of a difference be proved.
    """

    def __init__(
        self, old: Side, new: Side, *, rows: tuple[LayerKey, ...], alike: bool, steps: int
    ) -> None:
        spec = new.spec or old.spec
        assert spec is not None, "one of the policies has the tool"
        self._spec = spec
        self._sides = (old, new)
        self._rows = rows
        self._steps = steps
        self._is_provable = alike or old.spec is None or new.spec is None
        self._keys = PlanKeys(old, new)
        plans = [self._keys.all_of(side) for side in self._sides]
        self._placed = [{_place(plan): key for key, plan in each.items()} for each in plans]
        self._order = tuple({**plans[0], **plans[1]})
        like = {key for key in (layer.key for layer in old.layers) if _declare_alike(old, new, key)}
        self._common = {key for key in plans[0].keys() & plans[1].keys() if key[0] in like}
        self._slots = max(old.program.slots, new.program.slots)
        self._view = new.program.catalog.views.of(spec.schema)
        # Values of fields and facts with which a call may differ.
        self._suggested: dict[Subject, Any] = {}
        # Common rules that turned out to matter.
        self._exactly: frozenset[PlanKey] = frozenset()
        self._all_calls: dict[frozenset[PlanKey], _Asked[AllCalls]] = {}
        self._shown_calls: _Asked[ShownCalls] | None = None

    def __enter__(self) -> Question:
        return self

    def __exit__(self, *_: object) -> None:
        for asked in self._all_calls.values():
            asked.search.close()
        self._forget_shown()

    @property
    def is_large(self) -> bool:
        """Whether so much changed that a difference is more likely than not."""
        return len(self._order) - len(self._common) > _LARGE

    def is_surely_excluded(self, way: Way, layer: LayerKey) -> bool:
        """Return whether no call differs this way, whatever the rules do that both have."""
        return self._is_modelled(layer) and self._has_none(way, layer, exactly=frozenset())

    def is_excluded(self, way: Way, layer: LayerKey) -> bool:
        """Return whether no call differs this way, as common rules say; it takes longer."""
        return (
            self._is_modelled(layer)
            and 0 < len(self._common) <= _MOST_READ
            and self._has_none(way, layer, exactly=frozenset(self._common))
        )

    def witness(self, way: Way, layer: LayerKey) -> Witness | None:
        """Return a call that differs this way, as both engines decide it; None if none is found."""
        replays = _Replays(left=_MOST_REPLAYS)
        while replays.left:
            found = self._sought(way, layer, replays)
            if found is not None or not replays.learned:
                return found
            self._exactly |= replays.learned
            self._forget_shown()
            replays.learned = set()
            # Values with which a call may differ as these rules say, too.
            self._has_none(way, layer, exactly=self._exactly)
        return None

    def left_open(self, layer: LayerKey) -> frozenset[Way]:
        """Return how calls may differ because of a layer's rewrites, which no formula reads.

        A call that is rewritten gets the stricter verdict of both inputs. So a first rewrite of a
        tool is never looser, and the absence of the last one never tighter.
        """
        if all(self._keys.of(each, plan) in self._common for each, plan in self._rewrites(layer)):
            return frozenset()
        before, after = (any(each.rewrites for each in side.layers) for side in self._sides)
        found: dict[Way, bool] = {"looser": before, "tighter": after, "approval": before}
        return frozenset(way for way, is_open in found.items() if is_open)

    def rewritten_witness(self, way: Way, layer: LayerKey) -> Witness | None:
        """Return a call that differs this way by its value of a field that rewrites change."""
        fields = dict.fromkeys(
            str(change.steps[0])
            for _, plan in self._rewrites(layer)
            for change in plan.rule.changes
            if change.steps
        )
        decide = self._decide(way, layer)
        base = Situation(spec=self._spec, base=accepted_input(self._spec))
        calls = (base.having({("input", name): one}) for name in fields for one in _OF_EACH_TYPE)
        return next(filter(None, map(decide, calls)), None)

    def _rewrites(self, layer: LayerKey) -> Iterator[tuple[LayerPlan, RewritePlan]]:
        for each in (side.layer(layer) for side in self._sides):
            if each is not None:
                yield from ((each, plan) for plan in each.rewrites)

    def _forget_shown(self) -> None:
        if self._shown_calls is not None:
            self._shown_calls.search.close()
            self._shown_calls = None

    def _is_modelled(self, layer: LayerKey) -> bool:
        """Return whether all that a difference may come from is in the formula."""
        old, new = self._sides
        # By inline code, the floor differs.
        is_same_floor = old.permits_inline_code() == new.permits_inline_code()
        return self._is_provable and (is_same_floor or layer.kind != "every")

    def _has_none(self, way: Way, layer: LayerKey, *, exactly: frozenset[PlanKey]) -> bool:
        asked = self._all_calls.get(exactly)
        if asked is None:
            clauses = Clauses()
            reading = AllCalls(
                clauses,
                self._spec,
                self._view,
                tests=self._tests(exactly),
                layers=self._layers(),
                slots=self._slots,
            )
            asked = self._all_calls[exactly] = self._asked(reading, exactly, exact=False)
        asked.search.steps = self._steps
        wanted = asked.wanted[way, layer]
        if isinstance(asked.search.solve(wanted), Unsatisfiable):
            return True
        found = asked.search.solve([*wanted, asked.reading.ordinary])
        suggested = asked.reading.suggested(found) if isinstance(found, Model) else {}
        if suggested != self._suggested:
            self._suggested = suggested
            self._forget_shown()
        return False

    def _sought(self, way: Way, layer: LayerKey, replays: _Replays) -> Witness | None:
        """Return a call that differs, unless common rules matter that were left open."""
        asked = self._shown()
        formula, search, wanted = asked.formula, asked.search, asked.wanted[way, layer]
        decide = self._decide(way, layer)
        # While it is assumed, calls are excluded that do not differ this way.
        seeking = asked.seeking[way, layer]
        search.steps = self._steps
        batch = _IN_A_ROW
        # At best, no common rule that was left open matches.
        for assumed in ([seeking, *wanted, *formula.silent], [seeking, *wanted]):
            while replays.left and batch:
                model = search.solve(assumed)
                if not isinstance(model, Model):
                    break
                replays.left -= 1
                batch -= 1
                situation, chosen = asked.reading.shown(model)
                found = self._replayed(situation, layer)
                if found is not None:
                    if self._shows(found, way, layer):
                        return smallest(found, decide, asked.reading.values_of)
                    replays.learned |= self._misjudged(found, formula.matching(model))
                search.require(-seeking, *(-literal for literal in chosen))
            if replays.learned:
                return None
        return None

    def _shown(self) -> _Asked[ShownCalls]:
        if self._shown_calls is None:
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
            self._shown_calls = self._asked(reading, self._exactly, exact=True)
        return self._shown_calls

    def _asked(
        self, reading: _Reading, exactly: frozenset[PlanKey], *, exact: bool
    ) -> _Asked[_Reading]:
        """Return a reading with the questions that will be asked of it."""
        formula = self._formula(reading, exactly, exact=exact)
        asked = [(way, layer) for way in WAYS for layer in self._rows]
        wanted = {(way, layer): formula.differs(way, layer) for way, layer in asked}
        seeking = {one: reading.clauses.variable() for one in asked}
        search = Search(reading.clauses, steps=self._steps)
        return _Asked(
            reading=reading, formula=formula, wanted=wanted, seeking=seeking, search=search
        )

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
            return found if found is not None and self._shows(found, way, layer) else None

        return decided

    def _shows(self, found: Witness, way: Way, layer: LayerKey) -> bool:
        """Return whether a call differs this way, by a rule that changed in the layer."""
        return _differs(way, found) and self._is_about(found, layer)

    def _is_about(self, found: Witness, layer: LayerKey) -> bool:
        """Return whether a rule that changed in a layer matches a call, as far as rules tell."""
        old, new = (side.layer(layer) for side in self._sides)
        if old is None or new is None or not are_alike(old, new):
            return True
        if self._sides[0].spec != self._sides[1].spec:
            return True
        return any(
            reason.layer == layer.title and placed.get(_place_of(reason)) not in self._common
            for placed, decision in zip(self._placed, (found.before, found.after), strict=True)
            for reason in decision.reasons
            if reason.rule != "default"
        )

    def _replayed(self, situation: Situation, layer: LayerKey) -> Witness | None:
        old, new = (side.program for side in self._sides)
        return both_decisions(old, new, situation, layer)

    def _misjudged(self, found: Witness, expected: frozenset[PlanKey]) -> set[PlanKey]:
        """Return common rules, left open, that match a call against expectation or do not."""
        matching = {
            placed.get(_place_of(one))
            for placed, decision in zip(self._placed, (found.before, found.after), strict=True)
            for one in decision.reasons
        }
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked(Generic[_Reading]):
    """One reading of both policies, and the literals of each question about it."""

    reading: _Reading
    formula: Formula
    wanted: Mapping[tuple[Way, LayerKey], list[int]]
    seeking: Mapping[tuple[Way, LayerKey], int]
    search: Search


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
    return _place_of(plan.reason)


def _place_of(reason: Reason) -> tuple[object, ...]:
    return reason.layer, reason.file, reason.line, reason.rule, reason.verdict
