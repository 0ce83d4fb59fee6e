"""The generated function of one layer on one tool.

The function returns the numbers of the rules that match, and those that are indeterminate. A rule
that cannot be generated completely is decided by its closure, but only if its generated part does
not rule it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from policy.catalog import ToolSpec
from policy.checks import checked
from policy.codegen.branches import Branches, Conjunction
from policy.codegen.fields import Fields
from policy.codegen.formula import Conjunct, Formulas, Sides, conjunction, negation
from policy.codegen.functions import RuleFunction, compiled
from policy.codegen.quoting import Quoting
from policy.codegen.resources import Demand, ResourceTests
from policy.evaluation import DeclaredResources, TestOf


class RuleTest(Protocol):
    """Decides a whole rule; used only where the generated code cannot."""

    @property
    def matches(self) -> TestOf:
        """The rule's formula as a closure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleItem:
    """One rule of the layer: its number, its clauses, and what decides it whole.

    `grants`: it matches only if it is true, and an absent value in `when` is indeterminate. `more`:
    it requires more than its clauses. `covering`: clauses of its `when` cover for each other.
    """

    number: int
    when: checked.Test | None
    unless: checked.Test | None
    grants: bool
    more: bool
    covering: bool
    whole: RuleTest


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What code is written for: a tool, what the layer knows of it, and its rules' variables."""

    spec: ToolSpec
    declared: DeclaredResources
    slots: int


@dataclass(frozen=True, slots=True)
class _Written:
    """When the code knows that a rule is met; the lines for when it cannot, and what they read."""

    demands: tuple[Conjunct, ...] | None
    otherwise: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()


# Whose rules name no agent is called by agents of any name.
_AGENT = (
    "agent = caller.agent",
    "if not agent.isascii() and not plain(agent): return None",
)


def write_in_line(items: Sequence[RuleItem], tool: ToolContext) -> RuleFunction | None:
    """Return a function that asks one rule after the other; None if it cannot be compiled."""
    return Writer(tool).function(items)


class Writer:
    """Writes one function: its opening, the tests of its rules, and what it returns.

    `asks_whole` says whether the function may ask a closure; `looked_up` are the variables that
    lookups read.
    """

    def __init__(self, tool: ToolContext) -> None:
        self.quoting = Quoting()
        self._tool = tool
        self.resources = ResourceTests(tool.declared, self.quoting, self._evaluation)
        self.formulas = Formulas(
            tool.spec, tool.declared, Fields(), self.quoting, resources=self.resources
        )
        self.asks_whole = False
        self.looked_up: set[str] = set()

    def function(
        self, items: Sequence[RuleItem], lookups: Iterable[str] = ()
    ) -> RuleFunction | None:
        """Return the compiled function; `lookups` are lines that add what an index finds."""
        return compiled(self.text(items, lookups), self.quoting.env)

    def text(self, items: Sequence[RuleItem], lookups: Iterable[str] = ()) -> str:
        """Return the function's source: names of our own, and literals made by `quoting`."""
        fields = self.formulas.fields
        written = [self._written(item) for item in items]
        if fields.settle():
            # What a test must look at depends on what other tests expect of the same field.
            written = [self._written(item) for item in items]
        alike = _alike(items, written)
        always = [number for rule in alike if not rule.demands for number in rule.numbers]
        self.asks_whole = self.asks_whole or self.resources.asked
        branches = Branches(fields)
        opened = {*self.looked_up, *(name for one in written for name in one.reads)}
        lookups, otherwise = [*lookups], [line for one in written for line in one.otherwise]
        leaves_open = bool(lookups or otherwise)
        lines = [
            *(["d = call._fields"] if fields.any else []),
            *branches.opening(opened),
            *(["role = caller.role"] if self.formulas.reads_role else []),
            *(_AGENT if self.formulas.reads_agent else []),
            *self.resources.opening(),
            f"m = {(*always,)!r}",
            *(["u = ()"] if leaves_open else []),
            *lookups,
            *branches.lines([rule for rule in alike if rule.demands], opened=opened),
            *otherwise,
            "return IndeterminateRules(m, u) if u else m" if leaves_open else "return m",
        ]
        return "def ask(call, caller, facts, e=None):\n " + "\n ".join(lines) + "\n"

    def sides(self, item: RuleItem) -> tuple[Sides, bool]:
        """Return what can be written of a rule's formula, and whether that is all of it."""
        parts = [self.demand(demand) for demand in conjuncts(item)]
        whole = None not in parts
        cover = self.resources.cover(item.when) if item.more and whole else None
        if cover is not None:
            parts.append(Sides(cover, "False", (Conjunct(cover),), total=False))
        written = conjunction(part for part in parts if part is not None)
        assert written is not None
        return written, whole

    def demand(self, demand: Demand) -> Sides | None:
        """Return one demand of a formula: a test that must be true, or one that must be false."""
        self.formulas.covering = demand.covering
        sides = self.formulas.sides(demand.test, absent_is_false=demand.absent_is_false)
        return negation(sides) if demand.refused else sides

    def _written(self, item: RuleItem) -> _Written:
        sides, complete = self.sides(item)
        if complete and (item.grants or sides.total):
            return _Written(demands=sides.demands)
        if complete:
            # Neither true nor false: the closure returns why it is indeterminate.
            open_ = f"if not ({sides.true}) and not ({sides.false}):"
            whole = self._whole(item, f"{self.quoting.name(item.whole)}.matches")
            return _Written(sides.demands, (open_, *whole), sides.reads)
        open_ = sides.true if item.grants else f"not ({sides.false})"
        whole = self._whole(item, self.quoting.name(item.whole.matches))
        return _Written(None, (f"if {open_}:", *whole), sides.reads)

    def _whole(self, item: RuleItem, closure: str) -> list[str]:
        """Return the lines that ask the rule's closure, indented by one."""
        self.asks_whole = True
        lines = [
            f" {self.shared()}",
            f" t = {closure}(e)",
            f" if t is True: m += ({item.number},)",
        ]
        if not item.grants:
            lines.append(f" elif t is not False: u += (({item.number}, t),)")
        return lines

    def shared(self) -> str:
        """Return the line that makes the evaluation which all closures of a decision are given."""
        return f"e = e or {self._evaluation()}"

    def _evaluation(self) -> str:
        """Return the expression that makes an evaluation of the call."""
        spec, slots = self.quoting.name(self._tool.spec), self._tool.slots
        return f"Evaluation({spec}, call.input, caller=caller, facts=facts, slots={slots})"


def _alike(items: Sequence[RuleItem], written: Sequence[_Written]) -> list[Conjunction]:
    """Return what the code can decide of the rules; those of the same demands are asked once."""
    found: dict[tuple[str, ...], list[int]] = {}
    of: dict[tuple[str, ...], tuple[Conjunct, ...]] = {}
    for item, one in zip(items, written, strict=True):
        if one.demands is not None:
            key = tuple(demand.key for demand in one.demands)
            of[key] = one.demands
            found.setdefault(key, []).append(item.number)
    return [Conjunction(of[key], (*numbers,)) for key, numbers in found.items()]


def conjuncts(item: RuleItem) -> list[Demand]:
    """Return what a formula is the conjunction of.

    `when` must hold, `unless` must not; an absent value makes the `when` of what takes false.
    """
    found: list[Demand] = []
    if item.when is not None:
        tests = item.when.tests if isinstance(item.when, checked.AllOf) else (item.when,)
        found += [
            Demand(test, absent_is_false=not item.grants, covering=item.covering) for test in tests
        ]
    if item.unless is not None:
        tests = item.unless.tests if isinstance(item.unless, checked.AnyOf) else (item.unless,)
        found += [Demand(test, refused=True) for test in tests]
    return found
