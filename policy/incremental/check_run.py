"""One run of `check`: reuses the results of earlier runs, and stores its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from policy.checks import CheckedRule, LayerKey, Unit
from policy.diagnostics import Diagnostic
from policy.incremental.checked_rules import CheckedRules
from policy.incremental.surroundings import unit_context
from policy.model import Span
from policy.syntax import tree

_Rule: TypeAlias = tree.Rule | tree.KnownRule


@dataclass(slots=True, kw_only=True, eq=False)
class UnitRun:
    """One unit being read; `kept` are all of its rules, if all were remembered."""

    unit: Unit
    context: str | None
    remembered: CheckedRules
    kept: tuple[CheckedRule, ...] | None = None
    # Rules without diagnostics.
    silent: list[tuple[_Rule, CheckedRule]] = field(default_factory=list)
    # Something was said at another place than the rule's own, which another rule may then not say.
    doubtful: bool = False

    def find(self, rule: _Rule, *, id: str) -> CheckedRule | None:
        """Return a rule's checked form, if it is remembered."""
        if self.context is None:
            return None
        return self.remembered.rule(self.context, rule, id=id)

    def note(self, rule: _Rule, checked: CheckedRule, *, diagnostics: Iterable[Diagnostic]) -> None:
        """Record a rule's checked form, and the diagnostics of checking it."""
        diagnostics = tuple(diagnostics)
        if diagnostics and any(
            d.span is None or not _within(d.span, rule.span) for d in diagnostics
        ):
            self.doubtful = True
        if not diagnostics and not checked.broken:
            self.silent.append((rule, checked))


class CheckRun:
    """The units of one run, which are remembered at its end where that is certainly correct."""

    def __init__(self, remembered: CheckedRules) -> None:
        self._remembered = remembered
        self._runs: list[UnitRun] = []

    def unit(self, key: LayerKey, unit: Unit) -> UnitRun:
        """Begin to check a unit."""
        where = unit_context(key, unit)
        kept = None if where is None else _known(where, unit, self._remembered)
        run = UnitRun(unit=unit, context=where, remembered=self._remembered, kept=kept)
        if kept is None and where is not None:
            self._runs.append(run)
        return run

    def done(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Remember the rules without diagnostics, those of lints on one rule included."""
        if any(run.doubtful for run in self._runs):
            return
        flagged = sorted((d.span.file, d.span.start) for d in diagnostics if d.span is not None)
        for run in self._runs:
            self._remember(run, flagged)

    def _remember(self, run: UnitRun, flagged: list[tuple[str, int]]) -> None:
        assert run.context is not None
        for rule, checked in run.silent:
            if not _begins_within(flagged, rule.span):
                self._remembered.keep(run.context, rule, checked)


def _known(where: str, unit: Unit, remembered: CheckedRules) -> tuple[CheckedRule, ...] | None:
    """Return the rules of a unit, if all of them are remembered."""
    if any(isinstance(statement, tree.Rule) for statement in unit.statements):
        return None
    found = remembered.all_of(where, unit.known, prefix=unit.prefix, grants=unit.grants)
    return None if found is None else tuple(found)


def _begins_within(flagged: list[tuple[str, int]], rule: Span) -> bool:
    """Return whether one of these places, sorted, is in a rule."""
    first = bisect_left(flagged, (rule.file, rule.start))
    return first < len(flagged) and flagged[first] < (rule.file, rule.end)


def _within(span: Span, rule: Span) -> bool:
    return span.file == rule.file and rule.start <= span.start and span.end <= rule.end
