"""Plans of earlier programs, for those after them.

A plan is made of a tool's definition, of the rules that apply to the tool, and of a little that
stands around them. Where all of that is the same, compiling it again would give the same plan; so
an edit costs the first calls of the tools it is about, and those of no others.
"""

from __future__ import annotations

from policy.checks import LayerKey
from policy.program import LayerPlan, PlanInputs

# As many plans are kept, of tools and layers; beyond, all are made anew.
_MOST = 20_000


class PlanCache:
    """The plans made last, by layer and tool. For any number of programs and threads."""

    def __init__(self) -> None:
        self._plans: dict[tuple[LayerKey, str], tuple[PlanInputs, LayerPlan]] = {}

    def find(self, made_of: PlanInputs) -> LayerPlan | None:
        """Return the plan that was made of the same."""
        known = self._plans.get((made_of.key, made_of.spec.name))
        return known[1] if known is not None and made_of.are_those_of(known[0]) else None

    def keep(self, made_of: PlanInputs, plan: LayerPlan) -> None:
        """Keep a plan for the programs after this one."""
        if len(self._plans) >= _MOST:
            self._plans = {}
        self._plans[made_of.key, made_of.spec.name] = (made_of, plan)
