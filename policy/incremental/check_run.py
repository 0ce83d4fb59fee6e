"""One run of `check`, as the rules of earlier ones answer it and take in what it finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from policy.checks import CheckedRule, LayerKey, Unit
from policy.diagnostics import Diagnostic
from policy.incremental.checked_rules import CheckedRules
from policy.incremental.surroundings import context
from policy.source import Span
from policy.syntax import KnownRule, tree


@dataclass(slots=True, kw_only=True, eq=False)
class UnitRun:
    """One unit being read: `kept` are all of its rules, if they were remembered as they stand."""

    unit: Unit
    context: str | None
    remembered: CheckedRules
    kept: tuple[CheckedRule, ...] | None = None
    rules: list[CheckedRule] = field(default_factory=list)
    # Rules of which nothing was said, and whether they are all.
    silent: list[tuple[KnownRule, CheckedRule]] = field(default_factory=list)
    whole: bool = True
    # Something was said at another place than the rule's own, which another rule may then not say.
    doubtful: bool = False

    def find(self, rule: tree.Rule, *, id: str) -> CheckedRule | None:
        """Return what a rule comes to, if that is remembered."""
        if self.context is None or not isinstance(rule, KnownRule):
            return None
        return self.remembered.rule(self.context, rule, id=id)

    def note(self, rule: tree.Rule, checked: CheckedRule, *, said: Iterable[Diagnostic]) -> None:
        """Note what a rule came to, and what was said while it was checked."""
        said = tuple(said)
        if said and any(d.span is None or not _within(d.span, rule.span) for d in said):
            self.doubtful = True
        if said or not isinstance(rule, KnownRule):
            self.whole = False
        else:
            self.silent.append((rule, checked))
            # Nobody asks for its parts again; while others are read, there is room for those.
            rule.forget()


class CheckRun:
    """The units of one run; at its end they are remembered, where that is sure to be right."""

    def __init__(self, remembered: CheckedRules) -> None:
        self._remembered = remembered
        self._runs: list[UnitRun] = []

    def unit(self, key: LayerKey, unit: Unit) -> UnitRun:
        """Begin to check a unit."""
        where = context(key, unit)
        kept = None if where is None else _known(where, unit, self._remembered)
        run = UnitRun(unit=unit, context=where, remembered=self._remembered, kept=kept)
        if kept is None and where is not None:
            self._runs.append(run)
        return run

    def done(self, said: Iterable[Diagnostic]) -> None:
        """Remember the rules of which nothing was said, nor `said` by the lints on one rule."""
        if any(run.doubtful for run in self._runs):
            return
        flagged = {(d.span.file, d.span.start) for d in said if d.span is not None}
        for run in self._runs:
            self._remember(run, flagged)

    def _remember(self, run: UnitRun, flagged: set[tuple[str, int]]) -> None:
        assert run.context is not None
        whole = run.whole
        for rule, checked in run.silent:
            if (rule.span.file, rule.span.start) in flagged:
                whole = False
            else:
                self._remembered.keep(run.context, rule, checked)
        if whole:
            self._remembered.keep_unit(run.context, run.unit.statements, tuple(run.rules))


def _known(where: str, unit: Unit, remembered: CheckedRules) -> tuple[CheckedRule, ...] | None:
    """Return the rules of a unit, if all of them are remembered."""
    kept = remembered.unit(where, unit.statements)
    if kept is None:
        found = remembered.all_of(where, unit.statements, prefix=unit.prefix, gives=unit.gives)
        if found is not None:
            kept = tuple(found)
            remembered.keep_unit(where, unit.statements, kept)
    return kept


def _within(span: Span, rule: Span) -> bool:
    return span.file == rule.file and rule.start <= span.start and span.end <= rule.end
