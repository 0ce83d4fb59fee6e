"""Reuses the plans of earlier programs in later ones.

A plan depends on a tool's definition, on the rules that apply to the tool, and on a few other
inputs. If all of them are the same, so is the plan; so after an edit, only the tools that it
affects are compiled again.
"""

from __future__ import annotations

from policy.checks import LayerKey
from policy.program import LayerPlan, PlanInputs

# How many plans of tools and layers are kept; beyond that, all are compiled again.
_MOST = 20_000


class PlanCache:
    """The latest plans, by layer and tool. Shared between programs and threads."""

    def __init__(self) -> None:
        self._plans: dict[tuple[LayerKey, str], tuple[PlanInputs, LayerPlan]] = {}

    def find(self, made_of: PlanInputs) -> LayerPlan | None:
        """Return the plan of equal inputs, if there is one."""
        known = self._plans.get((made_of.key, made_of.spec.name))
        return known[1] if known is not None and made_of.are_those_of(known[0]) else None

    def keep(self, made_of: PlanInputs, plan: LayerPlan) -> None:
        """Keep a plan for the programs after this one."""
        if len(self._plans) >= _MOST:
            self._plans = {}
        self._plans[made_of.key, made_of.spec.name] = (made_of, plan)
