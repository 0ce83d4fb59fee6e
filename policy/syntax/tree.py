"""The nodes of the language: one frozen record per grammar rule, compared by meaning.

Spans never take part in comparison, so printing a tree and parsing it again gives an equal one.
Nothing here is resolved: a name is a name, a pattern is text, a number keeps its digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias

from policy.source import Source, Span
from policy.verdict import Verdict


def _span() -> Span:
    return field(compare=False, repr=False)  # type: ignore[no-any-return]


_node = dataclass(frozen=True, slots=True, kw_only=True)

# ------------------------------------------------------------------ expressions


@_node
class Text:
    value: str
    span: Span = _span()


@_node
class Number:
    """`1_000` and `1000` are one value; `1.50` keeps its digits and equals `1.5`."""

    value: int | Decimal
    span: Span = _span()


@_node
class Duration:
    """`30s`: an amount of `ms s m h d w`."""

    amount: int
    unit: str
    span: Span = _span()


@_node
class Boolean:
    value: bool
    span: Span = _span()


@_node
class Null:
    """Stands in test data only."""

    span: Span = _span()


@_node
class ListLiteral:
    items: tuple[Expr, ...]
    span: Span = _span()


@_node
class ObjectLiteral:
    entries: tuple[tuple[str, Expr], ...]
    span: Span = _span()


@_node
class Name:
    """A fact's first word, a `let`, a set, a parameter, or a quantifier's variable."""

    name: str
    span: Span = _span()


@_node
class Field:
    """`base.name`."""

    base: Expr
    name: str
    span: Span = _span()


@_node
class Index:
    """`base[key]`; `base["odd name"]` has a Text key."""

    base: Expr
    key: Expr
    span: Span = _span()


@_node
class Function:
    """`name(args)`; arguments are values, never conditions."""

    name: str
    args: tuple[Expr, ...]
    span: Span = _span()


@_node
class Selection:
    """`filter(x in l: …)` and its kin; `index` is the name after `at`."""

    function: str
    variable: str
    index: str | None
    source: Expr
    test: Expr
    span: Span = _span()


@_node
class History:
    """`results(TOOLS)` or `calls(TOOLS)`."""

    kind: Literal["results", "calls"]
    tools: Tools
    span: Span = _span()


@_node
class Arithmetic:
    op: Literal["+", "-", "*"]
    left: Expr
    right: Expr
    span: Span = _span()


@_node
class Negate:
    operand: Expr
    span: Span = _span()


@_node
class Quantifier:
    kind: Literal["any", "all"]
    variable: str
    index: str | None
    source: Expr
    test: Expr
    span: Span = _span()


@_node
class And:
    operands: tuple[Expr, ...]
    span: Span = _span()


@_node
class Or:
    operands: tuple[Expr, ...]
    span: Span = _span()


@_node
class Not:
    operand: Expr
    span: Span = _span()


@_node
class Compare:
    op: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Expr
    right: Expr
    span: Span = _span()


@_node
class In:
    left: Expr
    right: Expr
    negated: bool
    span: Span = _span()


@_node
class Regex:
    """`/pattern/`: the text between the slashes, `\\/` read as `/`."""

    pattern: str
    span: Span = _span()


@_node
class TextTest:
    op: Literal["starts with", "ends with", "contains"]
    left: Expr
    right: Expr | Regex
    span: Span = _span()


@_node
class Like:
    left: Expr
    pattern: str
    span: Span = _span()


@_node
class Matches:
    left: Expr
    regex: Regex
    span: Span = _span()


@_node
class Is:
    left: Expr
    what: Literal["present", "absent", "string", "number", "boolean", "list", "object"]
    span: Span = _span()


@_node
class NamedByUser:
    left: Expr
    span: Span = _span()


@_node
class From:
    left: Expr
    source: Name | History
    span: Span = _span()


@_node
class Window:
    """`left within 08:00..18:00 "Europe/Paris" on weekdays`; times as `HH:MM`."""

    left: Expr
    start: str
    end: str
    zone: str | None
    days: str | None
    span: Span = _span()


@_node
class Nothing:
    span: Span = _span()


@_node
class Anything:
    span: Span = _span()


Verb: TypeAlias = Literal["reads", "writes", "runs", "connects", "sends"]
Form: TypeAlias = Literal["some", "any", "only", "outside"]


@_node
class ResourceTest:
    """`reads only project`; the plain form is `some`."""

    verb: Verb
    form: Form
    operand: Expr | Nothing | Anything
    span: Span = _span()


@_node
class AfterTest:
    tools: Tools
    within: Duration | None
    span: Span = _span()


Expr: TypeAlias = (
    Text
    | Number
    | Duration
    | Boolean
    | Null
    | ListLiteral
    | ObjectLiteral
    | Name
    | Field
    | Index
    | Function
    | Selection
    | History
    | Arithmetic
    | Negate
    | Quantifier
    | And
    | Or
    | Not
    | Compare
    | In
    | TextTest
    | Like
    | Matches
    | Is
    | NamedByUser
    | From
    | Window
    | ResourceTest
    | AfterTest
)

# ------------------------------------------------------------------ parts


@_node
class FieldPath:
    """`input.a["odd name"][0][*]`: a root and its steps; `"*"` as Star is every element."""

    root: str
    steps: tuple[str | int | Star, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Star:
    """The step `[*]`: every element of a list."""


@_node
class ToolRef:
    """One tool pattern, or the name of a `tools` set; `origin` is `mcp`, `ext` or None."""

    origin: Literal["mcp", "ext"] | None
    pattern: str
    span: Span = _span()


@_node
class Tools:
    """`TOOLS except TOOLS`."""

    included: tuple[ToolRef, ...]
    excluded: tuple[ToolRef, ...] = ()
    span: Span = _span()


@_node
class EveryAgent:
    span: Span = _span()


@_node
class Agents:
    """`agent "x"` (one exact name) or `agents "a", "b-*"`; see `plural` for how it was said."""

    patterns: tuple[str, ...]
    plural: bool
    span: Span = _span()


@_node
class Role:
    name: str
    span: Span = _span()


Binding: TypeAlias = EveryAgent | Agents | Role


@_node
class Comment:
    """A comment with its `#`; `own_line` is false where it follows code on its line."""

    text: str
    own_line: bool
    span: Span = _span()


# ------------------------------------------------------------------ statements


@_node
class PolicyHeader:
    binding: Binding
    span: Span = _span()


@_node
class PackHeader:
    name: str
    span: Span = _span()


@_node
class Use:
    path: str
    alias: str | None
    bindings: tuple[tuple[str, Expr], ...]
    granting: bool
    span: Span = _span()


@_node
class Param:
    name: str
    kind: str
    default: Expr | None
    span: Span = _span()


@_node
class ToolSet:
    name: str
    tools: Tools
    span: Span = _span()


SetItem: TypeAlias = Text | Name | Number


@_node
class NamedSet:
    kind: Literal["paths", "hosts", "commands", "strings", "numbers", "addresses"]
    name: str
    included: tuple[SetItem, ...]
    excluded: tuple[SetItem, ...]
    span: Span = _span()


@_node
class SetFromFile:
    kind: Literal["paths", "hosts", "commands", "strings", "numbers", "addresses"]
    name: str
    file: str
    key: tuple[str, ...]
    span: Span = _span()


@_node
class DataTable:
    name: str
    file: str
    key: tuple[str, ...]
    span: Span = _span()


@_node
class Let:
    name: str
    value: Expr
    span: Span = _span()


@_node
class Effect:
    verb: Verb
    fields: tuple[FieldPath, ...]
    span: Span = _span()


@_node
class StoreEffect:
    """`writes to store "contacts"`, `reads from store "contacts"`."""

    verb: Literal["reads", "writes"]
    store: str
    span: Span = _span()


@_node
class ToolDeclaration:
    tool: ToolRef
    effects: tuple[Effect | StoreEffect, ...]
    complete: bool
    extra_fields: bool
    span: Span = _span()


@_node
class Default:
    verdict: Verdict
    tools: Tools | None
    span: Span = _span()


@_node
class Delegate:
    tools: Tools
    to: Binding
    span: Span = _span()


# clauses


@_node
class After:
    tools: Tools
    within: Duration | None
    span: Span = _span()


@_node
class When:
    test: Expr
    span: Span = _span()


@_node
class Unless:
    test: Expr
    span: Span = _span()


@_node
class Because:
    text: str
    span: Span = _span()


@_node
class Audit:
    text: str
    span: Span = _span()


@_node
class WithApproval:
    span: Span = _span()


@_node
class By:
    groups: tuple[str, ...]
    span: Span = _span()


@_node
class TwoPeople:
    span: Span = _span()


@_node
class Remember:
    """`remember 1h for input.to up to 5 times`; `period` is a Duration or `session`."""

    period: Duration | Literal["session"]
    fields: tuple[FieldPath, ...]
    times: int | None
    span: Span = _span()


Clause: TypeAlias = (
    After | When | Unless | Because | Audit | WithApproval | By | TwoPeople | Remember
)

# changes


@_node
class SetField:
    path: FieldPath
    value: Expr
    if_absent: bool
    span: Span = _span()


@_node
class AtMost:
    path: FieldPath
    bound: Expr
    span: Span = _span()


@_node
class AtLeast:
    path: FieldPath
    bound: Expr
    span: Span = _span()


@_node
class RemoveField:
    path: FieldPath
    span: Span = _span()


@_node
class RedactField:
    path: FieldPath
    regex: Regex
    replacement: str | None
    span: Span = _span()


Change: TypeAlias = SetField | AtMost | AtLeast | RemoveField | RedactField


@_node
class Rule:
    name: str | None
    shadow: bool
    verdict: Verdict
    tools: Tools
    clauses: tuple[Clause, ...]
    span: Span = _span()


@_node
class Rewrite:
    """Clauses and changes stand in the order of the text, each kind by itself."""

    name: str | None
    shadow: bool
    tools: Tools
    clauses: tuple[Clause, ...]
    changes: tuple[Change, ...]
    span: Span = _span()


@_node
class RedactResults:
    name: str | None
    shadow: bool
    tools: Tools
    regex: Regex
    replacement: str | None
    clauses: tuple[Clause, ...]
    span: Span = _span()


@_node
class Limit:
    """`per` holds Durations (a unit such as `day` is kept as text), scopes and field paths."""

    name: str | None
    shadow: bool
    tools: Tools
    amount: Number | Name
    of: Expr | None
    per: tuple[Duration | str | FieldPath, ...]
    clauses: tuple[Clause, ...]
    span: Span = _span()


@_node
class LabelResults:
    label: str
    tools: Tools
    fields: tuple[tuple[str, ...], ...]
    clauses: tuple[Clause, ...]
    span: Span = _span()


@_node
class Invariant:
    name: str | None
    kind: Literal["prove", "assume"]
    claim: Literal["never allow", "always deny"]
    tools: Tools
    clauses: tuple[Clause, ...]
    span: Span = _span()


# tests


@_node
class TestCall:
    """`TOOL {…}`; `tool` is one name, not a pattern."""

    tool: ToolRef
    input: ObjectLiteral
    span: Span = _span()


@_node
class Given:
    bindings: tuple[tuple[FieldPath, Expr], ...]
    span: Span = _span()


@_node
class Past:
    """`after [N times] CALL [returning JSON] [SPAN ago]`."""

    times: int | None
    call: TestCall
    returning: Expr | None
    ago: Duration | None
    span: Span = _span()


@_node
class Case:
    past: tuple[Past, ...]
    call: TestCall
    returning: Expr | None
    verdict: Verdict
    by: str | None
    becoming: Expr | None
    returned: Expr | None
    span: Span = _span()


@_node
class Test:
    title: str
    steps: tuple[Given | Case, ...]
    span: Span = _span()


Header: TypeAlias = PolicyHeader | PackHeader

Statement: TypeAlias = (
    Use
    | Param
    | ToolSet
    | NamedSet
    | SetFromFile
    | DataTable
    | Let
    | ToolDeclaration
    | Default
    | Delegate
    | Rule
    | Rewrite
    | RedactResults
    | Limit
    | LabelResults
    | Invariant
    | Test
)


@_node
class PolicyFile:
    """One file's tree. `header` is None where the file has no valid first statement.

    `comments` are all comments of the file in order; they do not take part in comparison.
    """

    source: Source = field(compare=False, repr=False)
    header: Header | None
    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False, repr=False)
