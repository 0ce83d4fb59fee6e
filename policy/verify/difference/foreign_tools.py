"""Whether two policies may let a tool do more that at least one of them does not know."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from policy.catalog import ToolSpec
from policy.checks import LayerKey
from policy.program import Program
from policy.solving import Clauses, Search, Unsatisfiable
from policy.symbolic import AllCalls, AnyTool, RuleReader, any_tool
from policy.verify.difference.changed_rewrites import left_open_by_rewrites
from policy.verify.difference.common_rules import CommonRules
from policy.verify.difference.formula import Formula, Way
from policy.verify.difference.sides import PlanKey, Side

# How many common rules are read exactly at most, to prove that no call differs.
_MOST_READ = 200


class ForeignTool:
    """One tool on both sides of a comparison, of which each call is looked at.

    `known` is its definition, as the policy has it that knows it; without one, nothing but the name
    and the origin in `spec` is known, and it may be any tool that has them.
    """

    def __init__(
        self,
        old: Program,
        new: Program,
        spec: ToolSpec,
        *,
        known: tuple[ToolSpec, ToolSpec] | None = None,
        steps: int,
    ) -> None:
        self._is_any = known is None
        before, after = known or (any_tool(spec),) * 2
        self._sides = (Side.with_tool(old, before), Side.with_tool(new, after))
        self._rules = CommonRules(*self._sides)
        self._steps = steps

    def loosened(self, layers: tuple[LayerKey, ...]) -> Iterator[LayerKey]:
        """Yield the layers, of those in which something changed, by which a call may do more."""
        if self.is_always_denied():
            return
        wanted: tuple[Way, ...] = ("looser", "approval")
        open_layers = [layer for layer in layers if self._is_left_open(layer)]
        for exactly in (frozenset[PlanKey](), self._rules.keys_of_both):
            if len(exactly) > _MOST_READ:
                break
            open_layers = [
                layer
                for layer in layers
                if self._is_left_open(layer)
                or any(not self._has_none(way, layer, exactly=exactly) for way in wanted)
            ]
            if not open_layers:
                return
        yield from open_layers

    def is_always_denied(self) -> bool:
        """Return whether the new policy certainly denies every call."""
        clauses = Clauses()
        common = self._rules.keys_of_both
        formula = self._formula(clauses, exactly=common if len(common) <= _MOST_READ else ())
        return self._exclude(clauses, [formula.passes_now()])

    def _is_left_open(self, layer: LayerKey) -> bool:
        """Return whether something differs that the formula does not read."""
        old, new = self._sides
        here, there = old.layer(layer), new.layer(layer)
        if (
            here is not None
            and there is not None
            and not here.declared.says_the_same(there.declared)
        ):
            return True
        if "looser" in left_open_by_rewrites(self._sides, layer, self._rules):
            return True
        # By inline code, the floor differs; by opened fields, what is admitted.
        return layer.kind == "every" and (
            old.permits_inline_code() != new.permits_inline_code() or _open(old) != _open(new)
        )

    def _has_none(self, way: Way, layer: LayerKey, *, exactly: frozenset[PlanKey]) -> bool:
        clauses = Clauses()
        formula = self._formula(clauses, exactly=exactly)
        return self._exclude(clauses, formula.differs(way, layer))

    def _exclude(self, clauses: Clauses, wanted: list[int]) -> bool:
        """Return whether no call meets clauses and wanted literals, which are all made by now."""
        with Search(clauses, steps=self._steps) as search:
            return isinstance(search.solve(wanted), Unsatisfiable)

    def _formula(self, clauses: Clauses, *, exactly: Collection[PlanKey]) -> Formula:
        new = self._sides[1]
        assert new.spec is not None, "a tool is on both sides"
        tests, layers = tuple(self._rules.tests(exactly)), self._rules.layers
        slots = max(side.program.slots for side in self._sides)
        reading: AnyTool | AllCalls
        if self._is_any:
            reading = AnyTool(clauses, new.spec, tests=tests, layers=layers, slots=slots)
        else:
            view = new.program.catalog.views.of(new.spec.schema)
            reading = AllCalls(clauses, new.spec, view, tests=tests, layers=layers, slots=slots)
        return Formula(
            self._sides,
            reading,
            RuleReader(reading, exact=False),
            keys=self._rules.keys,
            common=self._rules.keys_of_both,
            exactly=exactly,
        )


def _open(side: Side) -> bool:
    return side.spec is not None and side.program.open_fields(side.spec)
