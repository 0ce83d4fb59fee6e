"""What a check may know of rules from an earlier one, and reports to the next one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from policy.checks.assembly import Unit
from policy.checks.checked import CheckedRule, LayerKey
from policy.diagnostics import Diagnostic
from policy.syntax import tree

_Rule: TypeAlias = tree.Rule | tree.KnownRule


class UnitMemory(Protocol):
    """One unit being checked."""

    @property
    def kept(self) -> tuple[CheckedRule, ...] | None:
        """All rules of the unit, if they are known."""

    def find(self, rule: _Rule, *, id: str) -> CheckedRule | None:
        """Return what a rule comes to, if that is known."""

    def note(self, rule: _Rule, checked: CheckedRule, *, said: Iterable[Diagnostic]) -> None:
        """Take notice of what a rule came to, and what was said while it was checked."""


class CheckMemory(Protocol):
    """One run of `check`."""

    def unit(self, key: LayerKey, unit: Unit) -> UnitMemory:
        """Begin to check a unit."""

    def done(self, said: Iterable[Diagnostic]) -> None:
        """End the run; `said` is what the lints on one rule said."""


@dataclass(slots=True)
class _NewUnit:
    """A unit of which nothing is known."""

    kept: None = None

    def find(self, rule: _Rule, *, id: str) -> CheckedRule | None:
        return None

    def note(self, rule: _Rule, checked: CheckedRule, *, said: Iterable[Diagnostic]) -> None:
        pass


class NoMemory:
    """Nothing is known, and nothing is kept."""

    def unit(self, key: LayerKey, unit: Unit) -> UnitMemory:
        """Begin to check a unit."""
        return _NewUnit()

    def done(self, said: Iterable[Diagnostic]) -> None:
        """End the run."""
