"""The text of a rule in; the rule, parsed when somebody asks for its parts, out.

Whether a statement parses, and to what, depends on its text alone. So a rule whose text parsed
before without a word said about it need not be parsed again: its head says its name and verdict,
and the rest is read on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from policy.source import Source, Span
from policy.syntax import tree
from policy.verdict import Verdict

# A file, the text of a rule and where it begins in; the rule out.
ReadRule: TypeAlias = Callable[[Source, str, int], tree.Rule]


class Head(NamedTuple):
    """What is said of a rule without parsing it: `text` is the statement, comments blanked out.

    A tuple: one is made for each rule of a policy, and records are slow to make.
    """

    text: str
    name: str | None
    verdict: Verdict
    shadow: bool


# The heads of known rules by the text of their statement.
Heads: TypeAlias = Mapping[str, Head]

NO_HEADS: Heads = MappingProxyType({})


def beside_rules(statements: Iterable[tree.Statement]) -> list[tree.Statement]:
    """Return the statements but for known rules: of many thousands, the few that define things."""
    return [one for one in statements if type(one) is not KnownRule]


class KnownRule(tree.Rule):
    """A rule with its text. Everybody sees in it the rule that parsing gives, at its place.

    A subclass of the node, so that whoever looks at rules need not know of it; ten thousand are
    made at once and kept, which the nodes of all their parts could not be.
    """

    __slots__ = ("_read", "_source", "_whole", "head")

    head: Head
    _read: ReadRule
    _source: Source
    _whole: tree.Rule | None

    @property
    def is_parsed(self) -> bool:
        """Whether something is kept of what was parsed."""
        return self._whole is not None

    def whole(self) -> tree.Rule:
        """Return the rule as parsed; what was parsed once is kept until `forget`."""
        found = self._whole
        if found is None:
            found = self._read(self._source, self.head.text, self.span.start)
            object.__setattr__(self, "_whole", found)
        return found

    def forget(self) -> None:
        """Let go of what was parsed."""
        object.__setattr__(self, "_whole", None)

    @property
    def tools(self) -> tree.Tools:
        """The tools, parsed when they are asked for."""
        return self.whole().tools

    @property
    def clauses(self) -> tuple[tree.Clause, ...]:
        """The clauses, parsed when they are asked for."""
        return self.whole().clauses

    def __eq__(self, other: object) -> bool:
        return self.whole() == (other.whole() if isinstance(other, KnownRule) else other)

    def __hash__(self) -> int:
        return hash(self.whole())

    def __repr__(self) -> str:
        return repr(self.whole())


class _Unfinished(tree.Rule):
    """A known rule that is being made: the same slots, and nothing that forbids to fill them."""

    __slots__ = ("_read", "_source", "_whole", "head")

    # Both, or each assignment goes by a function of the record.
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__


_new = object.__new__


def known_rule(
    head: Head,
    source: Source,
    span: Span,
    read: ReadRule,
    *,
    whole: tree.Rule | None = None,
) -> KnownRule:
    """Return a rule at its place; `whole` as it was parsed, if it was."""
    made: Any = _new(_Unfinished)
    made.name, made.verdict, made.shadow = head.name, head.verdict, head.shadow
    made.span = span
    made.head = head
    made._source = source
    made._read = read
    made._whole = whole
    made.__class__ = KnownRule
    return made  # type: ignore[no-any-return]
