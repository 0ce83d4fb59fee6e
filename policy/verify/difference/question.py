"""Whether two policies decide some call of one tool differently.

Rules that both have are at first left open: they may match or not, but on both sides alike. If no
call is decided differently even so, none is. Otherwise such a call is sought, and a common rule for
which the engines decide otherwise than expected is read exactly from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from policy.checks import LayerKey
from policy.solving import Clauses, Model, Search, Unsatisfiable
from policy.symbolic import (
    AllCalls,
    RuleReader,
    ShownCalls,
    Situation,
    Subject,
)
from policy.verify.difference.changed_rewrites import left_open_by_rewrites, rewritten_calls
from policy.verify.difference.common_rules import CommonRules
from policy.verify.difference.formula import WAYS, Formula, Way
from policy.verify.difference.sides import PlanKey, Side
from policy.verify.difference.undecided_reason import Undecided, why_undecided
from policy.verify.difference.witness import (
    Witness,
    approval_direction,
    both_decisions,
)
from policy.verify.proof.replay import smallest

_MOST_REPLAYS = 48  # calls that the engines decide for one question
_IN_A_ROW = 12  # of them before common rules are read that turned out to matter
# Changed rules of a tool from which on a call is sought before a proof that there is none.
_LARGE = 10
# How many common rules are read exactly at most, to prove that there is no difference.
_MOST_READ = 200

_FLOOR = (
    "what the floor denies depends on what is declared of the tool, or on inline code, and differs"
)
_DECLARED = "declare as much as before, or deny what the tool must not write"

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
        self._rules = CommonRules(old, new)
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
        return self._rules.others > _LARGE

    def is_surely_excluded(self, way: Way, layer: LayerKey) -> bool:
        """Return whether no call differs this way, whatever the rules do that both have."""
        return self._is_modelled(way, layer) and self._has_none(way, layer, exactly=frozenset())

    def is_excluded(self, way: Way, layer: LayerKey) -> bool:
        """Return whether no call differs this way, as common rules say; it takes longer."""
        return (
            self._is_modelled(way, layer)
            and 0 < len(self._rules.keys_of_both) <= _MOST_READ
            and self._has_none(way, layer, exactly=self._rules.keys_of_both)
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
        """Return how calls may differ because of a layer's rewrites."""
        return left_open_by_rewrites(self._sides, layer, self._rules)

    def rewritten_witness(self, way: Way, layer: LayerKey) -> Witness | None:
        """Return a call that differs this way by its value of a field that rewrites change."""
        calls = rewritten_calls(self._spec, self._sides, layer)
        return next(filter(None, map(self._decide(way, layer), calls)), None)

    def why_undecided(self, layer: LayerKey) -> Undecided:
        """Return why it may be undecided how calls differ in a layer."""
        if self._is_provable and layer.kind == "every" and not self._is_floor_alike("looser"):
            return Undecided(_FLOOR, _DECLARED)
        readings = [asked.reading for asked in self._all_calls.values()]
        return why_undecided(self._spec, readings, self._rules.changed(layer))

    def _forget_shown(self) -> None:
        if self._shown_calls is not None:
            self._shown_calls.search.close()
            self._shown_calls = None

    def _is_modelled(self, way: Way, layer: LayerKey) -> bool:
        """Return whether all that a difference may come from is in the formula."""
        return self._is_provable and (layer.kind != "every" or self._is_floor_alike(way))

    def _is_floor_alike(self, way: Way) -> bool:
        """Return whether no call differs this way because of the floor, which no formula reads.

        It depends on what is declared of the tool, and on whether inline code is allowed.
        """
        if any(side.spec is None for side in self._sides):
            return True  # there, every call is denied
        before, after = (side.floor for side in self._sides)
        if before is None or after is None:
            added, removed = before is None, after is None
            return (added and removed) or (added if way == "looser" else removed)
        old, new = self._sides
        is_same_code = old.permits_inline_code() == new.permits_inline_code()
        return is_same_code and old.layers[0].declared.says_the_same(new.layers[0].declared)

    def _has_none(self, way: Way, layer: LayerKey, *, exactly: frozenset[PlanKey]) -> bool:
        asked = self._all_calls.get(exactly)
        if asked is None:
            clauses = Clauses()
            reading = AllCalls(
                clauses,
                self._spec,
                self._view,
                tests=self._rules.tests(exactly),
                layers=self._rules.layers,
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
                    replays.learned |= self._rules.misjudged(
                        found, expected=formula.matching(model), exactly=self._exactly
                    )
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
                tests=self._rules.tests(self._exactly),
                layers=self._rules.layers,
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
        formula = Formula(
            self._sides,
            reading,
            RuleReader(reading, exact=exact),
            keys=self._rules.keys,
            common=self._rules.keys_of_both,
            exactly=exactly,
        )
        asked = [(way, layer) for way in WAYS for layer in self._rows]
        wanted = {(way, layer): formula.differs(way, layer) for way, layer in asked}
        seeking = {one: reading.clauses.variable() for one in asked}
        search = Search(reading.clauses, steps=self._steps)
        return _Asked(
            reading=reading, formula=formula, wanted=wanted, seeking=seeking, search=search
        )

    def _decide(self, way: Way, layer: LayerKey) -> Callable[[Situation], Witness | None]:
        """Return the test of whether a call differs this way, by both engines."""

        def decided(situation: Situation) -> Witness | None:
            found = self._replayed(situation, layer)
            return found if found is not None and self._shows(found, way, layer) else None

        return decided

    def _shows(self, found: Witness, way: Way, layer: LayerKey) -> bool:
        """Return whether a call differs this way, by a rule that changed in the layer."""
        return _differs(way, found) and self._rules.are_about(found, layer)

    def _replayed(self, situation: Situation, layer: LayerKey) -> Witness | None:
        old, new = (side.program for side in self._sides)
        return both_decisions(old, new, situation, layer)


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
            return approval_direction(found.before, found.after) in ("looser", "unclear")
        case "more-approval":
            return approval_direction(found.before, found.after) in ("tighter", "unclear")
