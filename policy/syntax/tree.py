"""The syntax tree: one frozen dataclass per grammar rule, compared by meaning.

Spans never take part in comparison, so printing a tree and parsing it again gives an equal one.
Nothing here is resolved: a name is a name, a pattern is text, and a number keeps its digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

from policy.model import Source, Span, Verdict

# The parsing engine: the packaged tables, or Lark. Both give the same tree.
Engine: TypeAlias = Literal["tables", "lark"]


def _span() -> Span:
    return field(compare=False, repr=False)  # type: ignore[no-any-return]


# ------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """`"…"`, escapes resolved; `${name}` in it is still text."""

    value: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """`1_000` and `1000` are one value; `1.50` keeps its digits and equals `1.5`."""

    value: int | Decimal
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """`30s`: an amount of `ms s m h d w`."""

    amount: int
    unit: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean:
    """`true` or `false`."""

    value: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Null:
    """`null`, only in test data."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLiteral:
    """`[a, b]`."""

    items: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectLiteral:
    """`{field: value}`: test data, in the order of the text."""

    entries: tuple[tuple[str, Expr], ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A fact's first word, a `let`, a set, a parameter, or a quantifier's variable."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """`base.name`."""

    base: Expr
    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """`base[key]`; `base["odd name"]` has a Text key."""

    base: Expr
    key: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """`name(args)`; arguments are values, never conditions."""

    name: str
    args: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`filter(x in l: …)` and similar; `index` is the name after `at`."""

    function: str
    variable: str
    index: str | None
    source: Expr
    test: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """`results(TOOLS)` or `calls(TOOLS)`."""

    kind: Literal["results", "calls"]
    tools: Tools
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    """A sum, a difference or a product."""

    op: Literal["+", "-", "*"]
    left: Expr
    right: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Negate:
    """`-operand`."""

    operand: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantifier:
    """`any x in l: …` and `all x at i in l: …`; `index` is the name after `at`."""

    kind: Literal["any", "all"]
    variable: str
    index: str | None
    source: Expr
    test: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class And:
    """Two or more operands, all of which must hold."""

    operands: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Or:
    """Two or more operands, one of which must hold."""

    operands: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """`not operand`."""

    operand: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """`left == right` and the other comparisons."""

    op: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Expr
    right: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class In:
    """`left in right`, or `left not in right` where negated."""

    left: Expr
    right: Expr
    negated: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex:
    r"""`/pattern/`: the text between the slashes, `\/` read as `/`."""

    pattern: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTest:
    """`left contains right` and similar; a Regex only after `contains`."""

    op: Literal["starts with", "ends with", "contains"]
    left: Expr
    right: Expr | Regex
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Like:
    """`left like "glob"`."""

    left: Expr
    pattern: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """`left matches /…/`."""

    left: Expr
    regex: Regex
    span: Span = field(compare=False, repr=False)


State: TypeAlias = Literal["present", "absent"]
TypeName: TypeAlias = Literal["string", "number", "boolean", "list", "object"]
STATES: tuple[State, ...] = get_args(State)
TYPE_NAMES: tuple[TypeName, ...] = get_args(TypeName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Is:
    """`left is present`, `left is a number`."""

    left: Expr
    what: State | TypeName
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedByUser:
    """`left named by user`."""

    left: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class From:
    """`left from LABEL`, `left from results(TOOLS)`."""

    left: Expr
    source: Name | History
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """`left within 08:00..18:00 "Europe/Paris" on weekdays`; times as `HH:MM`."""

    left: Expr
    start: str
    end: str
    zone: str | None
    days: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """The operand `nothing`."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anything:
    """The operand `anything`."""

    span: Span = field(compare=False, repr=False)


Verb: TypeAlias = Literal["reads", "writes", "runs", "connects", "sends"]
Form: TypeAlias = Literal["some", "any", "only", "outside"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTest:
    """`reads only project`; the plain form is `some`."""

    verb: Verb
    form: Form
    operand: Expr | Nothing | Anything
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterTest:
    """`after T` and `after [T, U] within 1h` as conditions."""

    tools: Tools
    within: Duration | None
    span: Span = field(compare=False, repr=False)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPath:
    """`input.a["odd name"][0][*]`: a root and its steps; `"*"` as Star is every element."""

    root: str
    steps: tuple[str | int | Star, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Star:
    """The step `[*]`: every element of a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRef:
    """One tool pattern, or the name of a `tools` set; `origin` is `mcp`, `ext` or None."""

    origin: Literal["mcp", "ext"] | None
    pattern: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """`TOOLS except TOOLS`."""

    included: tuple[ToolRef, ...]
    excluded: tuple[ToolRef, ...] = ()
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryAgent:
    """`every agent`."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """`agent "x"` (one exact name) or `agents "a", "b-*"`; `plural` is which of the two."""

    patterns: tuple[str, ...]
    plural: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """`role "name"`."""

    name: str
    span: Span = field(compare=False, repr=False)


Binding: TypeAlias = EveryAgent | Agents | Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment with its `#`; `own_line` is false where it follows code on its line."""

    text: str
    own_line: bool
    span: Span = field(compare=False, repr=False)


# ------------------------------------------------------------------ statements


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyHeader:
    """`policy for …`."""

    binding: Binding
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackHeader:
    """`pack "name"`."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """`use "path" as ALIAS with NAME = VALUE granting`; `path_span` is the span of the path."""

    path: str
    alias: str | None
    bindings: tuple[tuple[str, Expr], ...]
    granting: bool
    span: Span = field(compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """`param NAME: KIND = DEFAULT`."""

    name: str
    kind: str
    default: Expr | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """`tools NAME = TOOLS`."""

    name: str
    tools: Tools
    span: Span = field(compare=False, repr=False)


SetItem: TypeAlias = Text | Name | Number


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSet:
    """`paths NAME = ITEMS except ITEMS`; only here a Number may be negative."""

    kind: Literal["paths", "hosts", "commands", "strings", "numbers", "addresses"]
    name: str
    included: tuple[SetItem, ...]
    excluded: tuple[SetItem, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFromFile:
    """`strings NAME from "file" at key.key`."""

    kind: Literal["paths", "hosts", "commands", "strings", "numbers", "addresses"]
    name: str
    file: str
    key: tuple[str, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """`data NAME from "file" at key.key`."""

    name: str
    file: str
    key: tuple[str, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Let:
    """`let NAME = VALUE`."""

    name: str
    value: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """`reads input.path, input.paths`, `reads tree input.folder`, `lists tree input.folder`.

    `extent`: whether the paths are folders with everything below them, or single files; None where
    that is not said. `listed` is `lists`, where names alone are read.
    """

    verb: Verb
    fields: tuple[FieldPath, ...]
    extent: Literal["tree", "file"] | None = None
    listed: bool = False
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEffect:
    """`writes to store "contacts"`, `reads from store "contacts"`."""

    verb: Literal["reads", "writes"]
    store: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDeclaration:
    """`tool T EFFECTS and nothing else extra fields allowed`."""

    tool: ToolRef
    effects: tuple[Effect | StoreEffect, ...]
    complete: bool
    extra_fields: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """`default VERDICT for TOOLS`."""

    verdict: Verdict
    tools: Tools | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegate:
    """`delegate TOOLS to LAYER`."""

    tools: Tools
    to: Binding
    span: Span = field(compare=False, repr=False)


# clauses


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """The clause `after TOOLS within DURATION`."""

    tools: Tools
    within: Duration | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """`when TEST`."""

    test: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unless:
    """`unless TEST`."""

    test: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Because:
    """`because "…"`: for the agent and its user."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """`audit "…"`: for the log only."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithApproval:
    """`with approval`."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """`by "group", …`: who may approve."""

    groups: tuple[str, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPeople:
    """`two people`."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember:
    """`remember 1h for input.to up to 5 times`; `period` is a Duration or `session`."""

    period: Duration | Literal["session"]
    fields: tuple[FieldPath, ...]
    times: int | None
    span: Span = field(compare=False, repr=False)


Clause: TypeAlias = (
    After | When | Unless | Because | Audit | WithApproval | By | TwoPeople | Remember
)

# changes


@dataclass(frozen=True, slots=True, kw_only=True)
class SetField:
    """`set PATH = VALUE if absent`."""

    path: FieldPath
    value: Expr
    if_absent: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMost:
    """`set PATH = at most BOUND`."""

    path: FieldPath
    bound: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast:
    """`set PATH = at least BOUND`."""

    path: FieldPath
    bound: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveField:
    """`remove PATH`."""

    path: FieldPath
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactField:
    """`redact PATH matching /…/ with "…"`."""

    path: FieldPath
    regex: Regex
    replacement: str | None
    span: Span = field(compare=False, repr=False)


Change: TypeAlias = SetField | AtMost | AtLeast | RemoveField | RedactField


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`name: shadow VERDICT TOOLS CLAUSES`."""

    name: str | None
    shadow: bool
    verdict: Verdict
    tools: Tools
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A rewrite rule; clauses and changes are each in the order of the text."""

    name: str | None
    shadow: bool
    tools: Tools
    clauses: tuple[Clause, ...]
    changes: tuple[Change, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactResults:
    """`redact results of TOOLS matching /…/ with "…"`."""

    name: str | None
    shadow: bool
    tools: Tools
    regex: Regex
    replacement: str | None
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """`per` holds Durations (a unit such as `day` is kept as text), scopes and field paths."""

    name: str | None
    shadow: bool
    tools: Tools
    amount: Number | Name
    of: Expr | None
    per: tuple[Duration | str | FieldPath, ...]
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelResults:
    """`label NAME on results of TOOLS at FIELDS`."""

    label: str
    tools: Tools
    fields: tuple[tuple[str, ...], ...]
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """`prove never allow TOOLS CLAUSES` and similar."""

    name: str | None
    kind: Literal["prove", "assume"]
    claim: Literal["never allow", "always deny"]
    tools: Tools
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


# tests


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCall:
    """`TOOL {…}`; `tool` is one name, not a pattern."""

    tool: ToolRef
    input: ObjectLiteral
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """`given FACT = VALUE, …`: applies to the cases below it."""

    bindings: tuple[tuple[FieldPath, Expr], ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """`after [N times] CALL [returning JSON] [SPAN ago]`."""

    times: int | None
    call: TestCall
    returning: Expr | None
    ago: Duration | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """`withheld`, in place of what the agent gets of a result."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call of a test and its verdict.

    `returning` is what the tool returns, `returned` what the agent sees; `by_span` is the span of
    the rule's name.
    """

    past: tuple[Past, ...]
    call: TestCall
    returning: Expr | None
    verdict: Verdict
    by: str | None
    becoming: Expr | None
    returned: Expr | Withheld | None
    span: Span = field(compare=False, repr=False)
    by_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """`test "title"` with its lines in order."""

    title: str
    steps: tuple[Given | Case, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRule:
    """A rule whose text parsed before without a diagnostic; `parse_known` parses it again.

    `text` is the rule as written, comments included, and `engine` the one to parse it with.
    """

    name: str | None
    verdict: Verdict
    shadow: bool
    text: str
    engine: Engine = field(default="tables", compare=False, repr=False)
    source: Source = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenStatement:
    """A statement that did not parse, with what its text still shows.

    `word` is the keyword that it probably begins with, after the name of a rule; "" if none is
    likely. `names` are the names that it probably defines, of a rule, a set or a pack.
    """

    word: str
    names: frozenset[str]
    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """One file's tree. `header` is None where the file has no valid first statement.

    `known` are the rules not parsed again because their text was parsed before, in order.
    `broken` are the statements that did not parse, and `likely_header` is the header that the file
    probably should have, if it has none. `comments` are all comments of the file in order. These
    three do not take part in comparison.
    """

    source: Source = field(compare=False, repr=False)
    header: Header | None
    statements: tuple[Statement, ...]
    known: tuple[KnownRule, ...] = ()
    broken: tuple[BrokenStatement, ...] = field(default=(), compare=False, repr=False)
    likely_header: Header | None = field(default=None, compare=False, repr=False)
    comments: tuple[Comment, ...] = field(default=(), compare=False, repr=False)

    @property
    def binding_header(self) -> Header | None:
        """The header, or else the one that the file probably should have."""
        return self.header or self.likely_header
