"""Plans of one generation in, those that hold as they are in the next one out.

A plan is made of a tool's definition, of the rules that fit the tool, and of a little that stands
around them. Where all of that is the same, compiling it again would give the same plan; so an edit
costs the first calls of the tools it is about, and those of no others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from policy.catalog import ToolSpec
from policy.checks import LayerKey, checked
from policy.commands import Profiles
from policy.program.floor import Floor
from policy.program.program import LayerPlan, Shortcuts

# As many plans are kept, of tools and layers; beyond, all are made anew.
_MOST = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredients:
    """All that one layer's plan of a tool is made of."""

    spec: ToolSpec
    key: LayerKey
    rules: tuple[checked.CheckedRule, ...]
    rewrites: tuple[checked.CheckedRewrite, ...]
    defaults: tuple[checked.CheckedDefault, ...]
    delegations: tuple[checked.CheckedDelegation, ...]
    declarations: tuple[checked.CheckedDeclaration, ...]
    top: bool
    floor: Floor
    profiles: Profiles
    slots: int
    shortcuts: Shortcuts

    def are_those_of(self, other: Ingredients) -> bool:
        """Tell whether both make the same plan, places of rules included."""
        return (
            self.spec is other.spec
            and self.profiles is other.profiles
            and len(self.rules) == len(other.rules)
            and all(a is b for a, b in zip(self.rules, other.rules, strict=True))
            and self._rest() == other._rest()
            # Equality knows no difference between 1, 1.0 and true; what is written does.
            and repr(self.rewrites) == repr(other.rewrites)
            and self._places() == other._places()
        )

    def _rest(self) -> tuple[Any, ...]:
        return (
            self.key,
            self.defaults,
            self.delegations,
            self.declarations,
            self.top,
            self.floor,
            self.slots,
            self.shortcuts,
        )

    def _places(self) -> list[Any]:
        """Return the places of what is compared by meaning alone."""
        changes: Iterable[Any] = (one for rewrite in self.rewrites for one in rewrite.changes)
        said = (*self.rewrites, *self.defaults, *self.delegations, *self.declarations, *changes)
        return [one.span for one in said]


class Carried:
    """The plans made last, by layer and tool. For any number of programs and threads."""

    __slots__ = ("_plans",)

    def __init__(self) -> None:
        self._plans: dict[tuple[LayerKey, str], tuple[Ingredients, LayerPlan]] = {}

    def find(self, made_of: Ingredients) -> LayerPlan | None:
        """Return the plan that was made of the same."""
        known = self._plans.get((made_of.key, made_of.spec.name))
        return known[1] if known is not None and made_of.are_those_of(known[0]) else None

    def keep(self, made_of: Ingredients, plan: LayerPlan) -> None:
        """Keep a plan for the programs after this one."""
        if len(self._plans) >= _MOST:
            self._plans = {}
        self._plans[made_of.key, made_of.spec.name] = (made_of, plan)
