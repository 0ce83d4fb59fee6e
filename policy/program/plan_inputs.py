"""All that the plan of one layer on one tool is made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from policy.catalog import ToolSpec
from policy.checks import LayerKey, checked
from policy.evaluation import Floor
from policy.program.program import LayerPlan, Shortcuts
from policy.programs import Profiles


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInputs:
    """The inputs of a plan: equal inputs give the same plan."""

    spec: ToolSpec
    key: LayerKey
    rules: tuple[checked.CheckedRule, ...]
    rewrites: tuple[checked.CheckedRewrite, ...]
    limits: tuple[checked.CheckedLimit, ...]
    redactions: tuple[checked.CheckedRedaction, ...]
    defaults: tuple[checked.CheckedDefault, ...]
    delegations: tuple[checked.CheckedDelegation, ...]
    declarations: tuple[checked.CheckedDeclaration, ...]
    top: bool
    floor: Floor
    profiles: Profiles
    slots: int
    shortcuts: Shortcuts

    def are_those_of(self, other: PlanInputs) -> bool:
        """Return whether both make the same plan, spans of rules included."""
        return (
            self.spec is other.spec
            and self.profiles is other.profiles
            and len(self.rules) == len(other.rules)
            and all(a is b for a, b in zip(self.rules, other.rules, strict=True))
            and self._rest() == other._rest()
            # Equality does not distinguish 1, 1.0 and true; their text does.
            and repr((self.rewrites, self.limits)) == repr((other.rewrites, other.limits))
            and repr(self.redactions) == repr(other.redactions)
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
        """Return the spans, which equality ignores."""
        changes: Iterable[Any] = (one for rewrite in self.rewrites for one in rewrite.changes)
        said = (
            *self.rewrites,
            *self.limits,
            *self.redactions,
            *self.defaults,
            *self.delegations,
            *self.declarations,
            *changes,
        )
        return [one.span for one in said]


class PlanMemory(Protocol):
    """The plans of earlier programs."""

    def find(self, made_of: PlanInputs) -> LayerPlan | None:
        """Return the plan of equal inputs, if there is one."""

    def keep(self, made_of: PlanInputs, plan: LayerPlan) -> None:
        """Keep a plan for the programs after this one."""
