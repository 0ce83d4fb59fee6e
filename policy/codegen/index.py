"""Looks rules up by the fields they compare, where a layer has many on one tool.

A rule is found by one of its conjuncts that a plain string decides: that a field equals one of a
few strings, or begins with one; or by a test of a resource, which is evaluated together with those
of all rules. If that conjunct is false the rule cannot match, so it need not be evaluated. Rules
without such a conjunct are always evaluated.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy.checks import checked
from policy.codegen.formula import constant_texts, input_field, like_head
from policy.codegen.functions import RuleFunction
from policy.codegen.layer import RuleItem, ToolContext, Writer, conjuncts, write_in_line
from policy.codegen.resources import number_tests, numbered
from policy.values import is_ordinary

# As many rules are asked one after the other faster than they are looked up.
_MOST_IN_LINE = 24
# A conjunct with more strings than this excludes few calls, and the rule would be in many entries.
_MOST_TEXTS = 8
# A lookup by beginnings of one length costs one slice and one hash; longer beginnings than the
# lengths kept are looked up by as much of them as one of those lengths has.
_MOST_LENGTHS = 4

Relation: TypeAlias = Literal["equals", "begins"]


@dataclass(frozen=True, slots=True)
class Key:
    """A conjunct by which a rule can be found: what a field must equal or begin with."""

    field: str
    relation: Relation
    texts: tuple[str, ...]


class Pending:
    """The function of some rules, written when it is first asked for.

    `asks_whole` says, once it is written, that it may ask closures: these see the one evaluation
    of the call that all groups share, so that no two rules of a decision see different worlds.
    """

    __slots__ = ("_ask", "_items", "_tool", "asks_whole")

    def __init__(self, items: Sequence[RuleItem], tool: ToolContext) -> None:
        self._items = items
        self._tool = tool
        self._ask: RuleFunction | None = None
        self.asks_whole = False

    @property
    def ask(self) -> RuleFunction:
        """The function; one that always gives up where the code cannot be compiled."""
        ask = self._ask
        if ask is None:
            writer = Writer(self._tool)
            ask = writer.function(self._items) or _give_up
            self.asks_whole = writer.asks_whole
            # Set last, so that another thread that finds it finds `asks_whole` too.
            self._ask = ask
        return ask


def _give_up(*call: object) -> None:
    """Find nothing out, so that every rule is asked."""


def write_layer(
    items: Sequence[RuleItem], tool: ToolContext, *, indexed: bool
) -> RuleFunction | None:
    """Return the function that finds the rules which a call meets; None if it cannot be compiled.

    Of the caller, the code takes the role as plain text. `indexed` says
    whether many rules may be told apart by an index first.
    """
    for item in items:
        number_tests(conjuncts(item), tool.declared)
    if indexed and len(items) > _MOST_IN_LINE:
        return write_indexed(items, tool)
    return write_in_line(items, tool)


def write_indexed(items: Sequence[RuleItem], tool: ToolContext) -> RuleFunction | None:
    """Return the function that looks rules up by their keys, and asks the others in line."""
    found = {item.number: index_keys(item) for item in items}
    crowd: Counter[tuple[str, Relation, str]] = Counter(
        (key.field, key.relation, text)
        for candidates in found.values()
        for key in candidates
        for text in key.texts
    )
    true: dict[str, dict[int, list[RuleItem]]] = defaultdict(lambda: defaultdict(list))
    equal: dict[str, dict[str, list[RuleItem]]] = defaultdict(lambda: defaultdict(list))
    begin: dict[str, list[tuple[str, RuleItem]]] = defaultdict(list)
    rest: list[RuleItem] = []
    for item in items:
        if not found[item.number]:
            test = numbered(conjuncts(item), tool.declared)
            if test is None:
                rest.append(item)
            else:
                true[test.verb][test.number].append(item)
            continue
        key = min(found[item.number], key=lambda k: _crowd(k, crowd))
        for text in key.texts:
            if key.relation == "equals":
                equal[key.field][text].append(item)
            else:
                begin[key.field].append((text, item))
    writer = Writer(tool)
    lookups: list[str] = []
    for field, groups in equal.items():
        table = {text: Pending(group, tool) for text, group in groups.items()}
        lookups += _lookup(writer, field, table, None)
    for field, pairs in begin.items():
        for length, beginnings in _by_length(pairs).items():
            table = {text: Pending(group, tool) for text, group in beginnings.items()}
            lookups += _lookup(writer, field, table, length)
    for verb, numbers in true.items():
        tests = {number: Pending(group, tool) for number, group in numbers.items()}
        lookups += _lookup_true(writer, verb, tests)
    return writer.function(rest, lookups)


def _crowd(key: Key, crowd: Counter[tuple[str, Relation, str]]) -> int:
    return sum(crowd[key.field, key.relation, text] for text in key.texts)


def _by_length(pairs: list[tuple[str, RuleItem]]) -> dict[int, dict[str, list[RuleItem]]]:
    """Return the rules by the length of the beginning to look up, and by that beginning."""
    lengths = Counter(len(text) for text, _ in pairs)
    # The shortest must be kept; of the others, those that most rules have.
    kept = {min(lengths), *(length for length, _ in lengths.most_common(_MOST_LENGTHS - 1))}
    found: dict[int, dict[str, list[RuleItem]]] = defaultdict(lambda: defaultdict(list))
    for text, item in pairs:
        length = max(length for length in kept if length <= len(text))
        group = found[length][text[:length]]
        if not group or group[-1] is not item:
            group.append(item)
    return found


def _lookup(writer: Writer, field: str, table: dict[str, Pending], length: int | None) -> list[str]:
    """Return the lines that ask the rules of one table, found by a field or its beginning."""
    name = writer.formulas.fields.variable(field, "text")
    writer.looked_up.add(name)
    rules = writer.quoting.name(table)
    text = name if length is None else f"{name}[:{length}]"
    return [
        f"if {name}.__class__ is str:",
        f" b = {rules}.get({text})",
        " if b is not None:",
        *_asked(writer, "  "),
        # A value of another kind leaves the demand open, which only every rule's closure can say.
        f"elif {name} is not None: return None",
    ]


def _lookup_true(writer: Writer, verb: str, tests: dict[int, Pending]) -> list[str]:
    """Return the lines that ask the rules whose test of a resource is true, or open."""
    return [
        f"for n in {writer.resources.reached(verb, tests)}:",
        f" b = {writer.quoting.name(tests)}[n]",
        *_asked(writer, " "),
    ]


def _asked(writer: Writer, indent: str) -> list[str]:
    """Return the lines that ask the rules `b`, and take in what they find."""
    lines = [
        "f = b.ask",
        f"if b.asks_whole: {writer.shared()}",
        "x = f(call, caller, facts, e)",
        "if x.__class__ is tuple: m += x",
        "elif x is None: return None",
        "else:",
        " m += x.matching",
        " u += x.indeterminate",
    ]
    return [indent + line for line in lines]


def index_keys(item: RuleItem) -> list[Key]:
    """Return the demands of a rule by which it can be found."""
    return [
        key
        for demand in conjuncts(item)
        if not demand.refused
        for key in _keys_of(demand.test)
        if all(is_ordinary(text) for text in key.texts)
    ]


def _keys_of(test: checked.Test) -> list[Key]:
    match test:
        case checked.Comparison(op="==", left=left, right=checked.Constant(value=str(text))) if (
            type(text) is str
        ):
            return _key(left, "equals", (text,))
        case checked.Membership(left=left, right=right):
            texts = constant_texts(right)
            few = texts is not None and len(texts) <= _MOST_TEXTS
            return _key(left, "equals", tuple(sorted(texts))) if texts and few else []
        case checked.TextRelation(
            op="starts with", left=left, right=checked.Constant(value=str(text))
        ) if type(text) is str and text:
            return _key(left, "begins", (text,))
        case checked.LikeTest(left=left, pattern=pattern):
            head = like_head(pattern)
            return _key(left, "begins", (head,)) if head else []
        case _:
            return []


def _key(left: checked.Value, relation: Relation, texts: tuple[str, ...]) -> list[Key]:
    field = input_field(left)
    return [] if field is None else [Key(field, relation, texts)]
