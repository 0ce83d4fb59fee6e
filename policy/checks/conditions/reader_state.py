"""The state of reading one statement's conditions: names, variables, slots and budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from policy.checks.checked import Constant, PastRead, Test, ValueTest, Variable
from policy.checks.conditions.fields import ToolFields
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.conditions.value_types import FACT_ROOTS, NUMBER
from policy.checks.context import CheckContext
from policy.checks.names.scopes import Scope
from policy.checks.report import Report
from policy.diagnostics import Label
from policy.model import Span
from policy.syntax import Spelled, print_expr, tree

# How many nodes the conditions of one statement may have once names are expanded.
MAX_NODES = 5_000

# Read a value and a condition inside a condition.
ReadValue: TypeAlias = Callable[[tree.Expr, "StatementContext"], TypedValue]
ReadTest: TypeAlias = Callable[[tree.Expr, "StatementContext"], Test]


class PartReaders(NamedTuple):
    """The readers of an expression's parts: values and conditions."""

    value: ReadValue
    test: Callable[[tree.Expr, StatementContext], Any]


# Stands for an expression with a reported mistake; nothing is inferred from it.
BROKEN = TypedValue(value=Constant(value=None))
BROKEN_TEST = ValueTest(value=Constant(value=None), text="")


@dataclass(slots=True, kw_only=True, eq=False)
class StatementContext:
    """The state with which the conditions of one statement are read.

    `tools` None stands for a statement without tools, such as an unused `let`. `permits` is whether
    truth makes the verdict less strict in this position; None where that is unknown.
    """

    check: CheckContext
    scope: Scope
    tools: ToolFields | None
    permits: bool | None = None
    slots: int = 0
    nodes: int = 0
    speaks: bool = False
    locals: dict[str, TypedValue] = field(default_factory=dict)
    lets: tuple[tree.Let, ...] = ()
    selecting: bool = False
    is_in_pack: bool = False
    # The earlier calls that the conditions read; `reads_results` is whether one is asked for its
    # result.
    reads: list[PastRead] = field(default_factory=list)
    reads_results: bool = False
    # The conditions printed so far, so that each part is printed once, not once per enclosing part.
    spelled: Spelled = field(default_factory=dict)

    @property
    def past_reads(self) -> tuple[PastRead, ...]:
        """What the conditions read of earlier calls."""
        return tuple(
            replace(read, result=True) if self.reads_results else read for read in self.reads
        )

    @property
    def report(self) -> Report:
        """The report to which mistakes are added."""
        return self.check.report

    def words(self, expr: tree.Expr) -> str:
        """Return the canonical text of an expression."""
        words = print_expr(expr, self.spelled)
        return self.check.texts.setdefault(words, words)

    def count(self, span: Span) -> bool:
        """Return whether the budget still allows a node; report once when it is used up."""
        self.nodes += 1
        if self.nodes == MAX_NODES + 1:
            self.report.add(
                "condition-too-large",
                "this condition is too large once its names are expanded",
                span=self.lets[0].span if self.lets else span,
                help="use fewer or simpler `let` names",
            )
        return self.nodes <= MAX_NODES

    @contextmanager
    def variable(
        self, name: str, index: str | None, *, source: TypedValue, span: Span
    ) -> Iterator[tuple[int, int | None]]:
        """Give a quantifier's variables their slots while its test is read."""
        outer = dict(self.locals)
        slot, self.slots = self.slots, self.slots + 1
        self._claim(name, span)
        path = None if source.path is None else (*source.path, "*")
        self.locals[name] = TypedValue(
            value=Variable(slot=slot), type=source.type.element, path=path
        )
        index_slot = None
        if index is not None:
            index_slot, self.slots = self.slots, self.slots + 1
            self._claim(index, span)
            self.locals[index] = TypedValue(value=Variable(slot=index_slot), type=NUMBER)
        try:
            yield slot, index_slot
        finally:
            self.locals = outer

    def _claim(self, name: str, span: Span) -> None:
        found = self.scope.find(name)
        if name in FACT_ROOTS:
            self.report.add(
                "fact-redefined",
                f"`{name}` is a fact and cannot be given another meaning",
                span=span,
                help="choose another name for the variable",
            )
        elif name in self.locals or found is not None:
            labels = () if found is None else (Label(span=found.span, text="defined here"),)
            self.report.add(
                "name-redefined",
                f"`{name}` already has a meaning here",
                span=span,
                labels=labels,
                help="choose another name for the variable",
            )
