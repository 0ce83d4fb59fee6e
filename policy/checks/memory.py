"""The interface through which a check reuses the results of an earlier one."""

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
    """The memory of one unit that is being checked."""

    @property
    def kept(self) -> tuple[CheckedRule, ...] | None:
        """All checked rules of the unit, if they are remembered."""

    def find(self, rule: _Rule, *, id: str) -> CheckedRule | None:
        """Return a rule's checked form, if it is remembered."""

    def note(self, rule: _Rule, checked: CheckedRule, *, diagnostics: Iterable[Diagnostic]) -> None:
        """Record a rule's checked form and the diagnostics of checking it."""


class CheckMemory(Protocol):
    """The memory of one run of `check`."""

    def unit(self, key: LayerKey, unit: Unit) -> UnitMemory:
        """Begin to check a unit."""

    def done(self, diagnostics: Iterable[Diagnostic]) -> None:
        """End the run; `diagnostics` are those of the lints on single rules."""


@dataclass(slots=True)
class _NewUnit:
    """A unit of which nothing is remembered."""

    kept: None = None

    def find(self, rule: _Rule, *, id: str) -> CheckedRule | None:
        return None

    def note(self, rule: _Rule, checked: CheckedRule, *, diagnostics: Iterable[Diagnostic]) -> None:
        pass


class NoMemory:
    """A memory that is empty and stays empty."""

    def unit(self, key: LayerKey, unit: Unit) -> UnitMemory:
        """Begin to check a unit."""
        return _NewUnit()

    def done(self, diagnostics: Iterable[Diagnostic]) -> None:
        """End the run."""
