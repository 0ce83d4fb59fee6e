"""The checked policy: the result of `check`, and the input of all later stages.

All names are resolved: sets and `let` expressions are inlined, facts are paths, variables are
slots, packs are expanded with their parameters. Types are checked, and positions that permit are
distinguished from positions that restrict. Spans and canonical texts are kept, so that every
decision can name its source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from policy.catalog import Origin, Resource, SchemaView, Step, ToolSelector
from policy.model import Span, Terms, Verdict
from policy.syntax import tree


def _span() -> Span:
    return field(compare=False, repr=False)  # type: ignore[no-any-return]


SetKind: TypeAlias = Literal["paths", "hosts", "commands", "strings", "numbers", "addresses"]

# ------------------------------------------------------------------ sets


@dataclass(frozen=True, slots=True)
class WorkspaceItem:
    """The fact `workspace` as an operand: the folder and everything below."""


@dataclass(frozen=True, slots=True)
class InlineCodeItem:
    """The keyword `inline_code`: what code that a command spells out accesses, or runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSet:
    """A set of items of type `kind`: those of some included part that no excluded part contains."""

    kind: SetKind
    included: tuple[SetPart, ...]
    excluded: tuple[SetPart, ...] = ()


SetPart: TypeAlias = str | int | float | Decimal | WorkspaceItem | InlineCodeItem | ValueSet

# ------------------------------------------------------------------ values


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A frozen JSON value, a datetime, a date or a timedelta written in the policy or its data."""

    # Read-only mappings have no hash; equal constants are still equal.
    value: Any = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact by its full name: `("input",)`, `("call", "reads")`, `("context", "flights")`."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of a quantifier or selection; its slot is unique in the rule."""

    slot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOf:
    base: Value
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementAt:
    base: Value
    key: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectOf:
    entries: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A call of a function, one of `checks.FUNCTIONS`."""

    function: str
    args: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """`filter first latest count sum` over a list; for `sum`, `test` is the value to add."""

    function: str
    slot: int
    index_slot: int | None
    source: Value
    test: Test | Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    op: Literal["+", "-", "*"]
    left: Value
    right: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Negative:
    operand: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredOutput:
    """What a tool declares that it returns: `digest` is that of the schema."""

    tool: str
    origin: Origin
    digest: str
    schema: SchemaView = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedStore:
    """A store, the tools that write to it, and those that are declared to read from it, or not to.

    A tool that is declared neither way may read from it.
    """

    name: str
    writers: tuple[ToolSelector, ...]
    readers: tuple[ToolSelector, ...]
    others: tuple[ToolSelector, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierCalls:
    """`calls(TOOLS)` and `results(TOOLS)`: a list of calls, or of their results.

    Where it `permits`, it holds the calls that succeeded, and what the `labels` mark in their
    results is not known, nor are results that may come from one of the `stores`, once it was
    written to; elsewhere, every call that was handed to its tool. `outputs` is what its tools
    declare of their results.
    """

    kind: Literal["calls", "results"]
    tools: ToolSelector
    permits: bool
    text: str
    labels: tuple[CheckedLabel, ...] = ()
    stores: tuple[CheckedStore, ...] = ()
    outputs: tuple[DeclaredOutput, ...] = ()


Value: TypeAlias = (
    Constant
    | Fact
    | Variable
    | FieldOf
    | ElementAt
    | ListOf
    | ObjectOf
    | FunctionCall
    | Selected
    | Arithmetic
    | Negative
    | EarlierCalls
)

# ------------------------------------------------------------------ tests
# `text` is the canonical text of the test, for the deciding clause of a reason.


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    tests: tuple[Test, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    tests: tuple[Test, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOf:
    """`not`, and conditions defined by it: `x != v` is `not (x == v)`."""

    test: Test
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueTest:
    """A value used as a condition; indeterminate unless it is true or false."""

    value: Value
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    op: Literal["==", "<", "<=", ">", ">="]
    left: Value
    right: Value
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """`left in right`, where `right` is a set or a list value."""

    left: Value
    right: ValueSet | Value
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRelation:
    op: Literal["starts with", "ends with", "contains"]
    left: Value
    right: Value
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LikeTest:
    left: Value
    pattern: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexTest:
    """`matches /re/` tests the whole string, `contains /re/` searches in it."""

    left: Value
    pattern: str
    whole: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    left: Value
    present: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeTest:
    left: Value
    kind: Literal["string", "number", "boolean", "list", "object"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantified:
    kind: Literal["any", "all"]
    slot: int
    index_slot: int | None
    source: Value
    test: Test
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowTest:
    """`start` and `end` in minutes from midnight; `days` as 0 (Monday) to 6, None: every day."""

    left: Value
    start: int
    end: int
    zone: str
    days: frozenset[int] | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTest:
    """A resource test; `operand` None means `anything`, an empty set means `nothing`.

    `beside` are the commands that the same `allow` permits: where one of their patterns makes a
    program follow redirects, `connects only` does not restrict the redirect targets.
    `any_redirection`: beside this `runs only`, the same condition sets no limit to what is read and
    written, so that redirections need no pattern. `surely`: words that unseen code is given do not
    count as written.
    """

    verb: tree.Verb
    form: tree.Form
    operand: ValueSet | None
    permits: bool
    text: str
    beside: ValueSet | None = None
    any_redirection: bool = False
    surely: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedLabel:
    """One `label` statement. `fields` are those of the result that it marks, empty: all of it.

    Its conditions are about the call: its input, and the fact `result`. `outputs` is what its tools
    declare of their results.
    """

    name: str
    tools: ToolSelector
    fields: tuple[tuple[str, ...], ...] = ()
    when: Test | None = None
    unless: Test | None = None
    slots: int = 0
    outputs: tuple[DeclaredOutput, ...] = ()

    @property
    def has_conditions(self) -> bool:
        """Whether only some calls of its tools are labelled."""
        return self.when is not None or self.unless is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierCall:
    """`after TOOLS within SPAN`: such a call was made before in the session tree.

    `labels` are those among the tools that mark only some calls. `within` None: however long ago.
    """

    tools: ToolSelector
    within: timedelta | None
    text: str
    labels: tuple[CheckedLabel, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InEarlierCalls:
    """`left in results(TOOLS).a.b`: `steps` lead from each call or result to the values."""

    left: Value
    calls: EarlierCalls
    steps: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundInResults:
    """`left from results(TOOLS)`: every value stands in such a result as whole words."""

    left: Value
    calls: EarlierCalls
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundInLabelled:
    """`left from LABEL`: some value is a part of a text that the label marks."""

    left: Value
    labels: tuple[CheckedLabel, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedByUser:
    """`left named by user`: every value stands in what the user wrote."""

    left: Value
    text: str


Test: TypeAlias = (
    AllOf
    | AnyOf
    | NotOf
    | ValueTest
    | Comparison
    | Membership
    | TextRelation
    | LikeTest
    | RegexTest
    | Presence
    | TypeTest
    | Quantified
    | WindowTest
    | ResourceTest
    | EarlierCall
    | NamedByUser
    | InEarlierCalls
    | FoundInResults
    | FoundInLabelled
)

# ------------------------------------------------------------------ statements


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRead:
    """That a statement reads earlier calls of these tools one by one; `result`: results, too."""

    tools: ToolSelector
    result: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerKey:
    """Which agents a layer applies to, normalised: sorted, and `agents "a"` as `agent "a"`.

    `kind` is `every`, `agent`, `agents` or `role`; `names` is empty for `every`.
    """

    kind: Literal["every", "agent", "agents", "role"]
    names: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The layer's name in reasons: `every agent`, `agent "x"`, `agents "a-*"`, `role "r"`."""
        if self.kind == "every":
            return "every agent"
        return f"{self.kind} " + ", ".join(f'"{name}"' for name in self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRule:
    """`allow`, `ask` or `deny`. `id` is its name, `file:line` without one, or `table:KEY`.

    `with_approval` (on an `allow`) means that `allow` and an `ask` with the same conditions.
    `speaks_of_resources` is whether its clauses contain a resource test: then, on an `allow`, every
    effect of the call must be covered by some `only` clause of the rule. `terms` are those of its
    `by`, `two people` and `remember`, without a digest. `of_pack` is whether it comes from a pack,
    which is written for many policies. `broken` is whether it has an error, so that nothing follows
    from the rest of it. `reads` is what it reads of earlier calls.
    """

    id: str
    verdict: Verdict
    tools: ToolSelector
    when: Test | None
    unless: Test | None
    because: str | None
    audit: str | None
    shadow: bool
    with_approval: bool
    speaks_of_resources: bool
    slots: int
    text: str
    terms: Terms = Terms()
    of_pack: bool = False
    broken: bool = False
    reads: tuple[PastRead, ...] = ()
    span: Span = _span()

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """The canonical texts of its `when` and its `unless`."""
        when, unless = self.when, self.unless
        return (None if when is None else when.text, None if unless is None else unless.text)

    @property
    def asks(self) -> bool:
        """Whether the rule asks: by its verdict, or as the other half of its `allow`."""
        return self.with_approval or self.verdict is Verdict.ASK


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedChange:
    """One change of a rewrite. `steps` lead from the input to the field: names or list indexes.

    `value` is the new value or the bound; `pattern` and `replacement` belong to `redact`.
    """

    kind: Literal["set", "set if absent", "at most", "at least", "remove", "redact"]
    steps: tuple[str | int, ...]
    value: Value | None
    pattern: str | None
    replacement: str | None
    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRewrite:
    id: str
    tools: ToolSelector
    when: Test | None
    unless: Test | None
    because: str | None
    audit: str | None
    shadow: bool
    changes: tuple[CheckedChange, ...]
    slots: int
    text: str
    broken: bool = False
    reads: tuple[PastRead, ...] = ()
    span: Span = _span()


LimitScope: TypeAlias = Literal["service", "session", "agent", "user", "field"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedLimit:
    """At most `capacity` of `amount` (None: calls) in a `window` (None: ever).

    `scope` is for whom each budget is: `service` is one for all, `field` one for each value at
    `steps` in the input. `meter` identifies what is counted, as in `Budget`.
    """

    id: str
    tools: ToolSelector
    capacity: int | Decimal
    amount: Value | None
    window: timedelta | None
    scope: LimitScope
    steps: tuple[Step, ...]
    when: Test | None
    unless: Test | None
    because: str | None
    audit: str | None
    shadow: bool
    meter: str
    slots: int
    text: str
    of_pack: bool = False
    broken: bool = False
    reads: tuple[PastRead, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRedaction:
    """`redact results`. `when` and `unless` are its conditions on the call.

    Those that read the fact `result` are in `result_when` and `result_unless`, which are evaluated
    once the tool has run.
    """

    id: str
    tools: ToolSelector
    when: Test | None
    unless: Test | None
    result_when: Test | None
    result_unless: Test | None
    because: str | None
    audit: str | None
    shadow: bool
    pattern: str
    replacement: str
    slots: int
    text: str
    of_pack: bool = False
    broken: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDefault:
    """`default E` (tools None) or `default E for TOOLS`."""

    verdict: Verdict
    tools: ToolSelector | None
    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDelegation:
    """A permission by the global layer that the layer `to` decides about these tools."""

    tools: ToolSelector
    to: LayerKey
    span: Span = _span()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDeclaration:
    """What a `tool` statement adds, within its layer, to the tools it matches.

    `writes_to` and `reads_from` are names of stores.
    """

    tools: ToolSelector
    resources: tuple[Resource, ...]
    complete: bool
    extra_fields: bool
    writes_to: tuple[str, ...] = ()
    reads_from: tuple[str, ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedInvariant:
    id: str
    kind: Literal["prove", "assume"]
    claim: Literal["never allow", "always deny"]
    tools: ToolSelector
    when: Test | None
    unless: Test | None
    slots: int
    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPolicy:
    """One layer, checked. The global layer has exactly one default without tools.

    `incomplete` is whether a statement that may grant something did not parse.
    """

    key: LayerKey
    rules: tuple[CheckedRule, ...] = ()
    rewrites: tuple[CheckedRewrite, ...] = ()
    limits: tuple[CheckedLimit, ...] = ()
    redactions: tuple[CheckedRedaction, ...] = ()
    defaults: tuple[CheckedDefault, ...] = ()
    delegations: tuple[CheckedDelegation, ...] = ()
    declarations: tuple[CheckedDeclaration, ...] = ()
    invariants: tuple[CheckedInvariant, ...] = ()
    incomplete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleSuite:
    """The tests of one file. A pack's own tests run over `base`, its layers; others over all.

    `base` is None for the tests of a layer's file. `file` is the file of the tests.
    """

    file: str
    tests: tuple[tree.Test, ...]
    base: tuple[CheckedPolicy, ...] | None = None
