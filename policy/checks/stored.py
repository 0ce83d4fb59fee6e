"""Columns of what was checked in, one for each field; a rule of them at its place out.

What no pass over all rules asks for stays in the columns, conditions as the JSON they were read
as, until somebody asks: a rule whose tool is never called costs no more than its places in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from policy.catalog import ToolSelector
from policy.checks import checked
from policy.checks.checked import CheckedRule, Test
from policy.checks.codec import NotStorable, read
from policy.reason import Terms
from policy.records import dataclass, fields
from policy.source import Span
from policy.syntax import Head

# Nobody can decide this: on an `allow` it gives nothing, on any other rule it takes.
_UNREADABLE = checked.Truth(value=checked.Constant(value="unreadable"), text="unreadable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What was stored of many rules; those of one number belong together.

    `texts` are canonical texts, or where in the text of the statement they begin and go on to its
    end. The JSON of both conditions of a rule goes on in `conditions` up to its end in `ends`.
    """

    heads: Sequence[Head]
    tools: Sequence[ToolSelector]
    because: Sequence[str | None]
    audit: Sequence[str | None]
    with_approval: Sequence[bool]
    speaks_of_resources: Sequence[bool]
    slots: Sequence[int]
    texts: Sequence[str | int]
    terms: Sequence[Terms]
    of_pack: Sequence[bool]
    when: Sequence[str | None]
    unless: Sequence[str | None]
    ends: Sequence[int]
    conditions: bytes


class StoredLine:
    """A rule by its number in the columns, at no place. A plain class: ten thousand are made."""

    __slots__ = ("columns", "number")

    def __init__(self, columns: Columns, number: int) -> None:
        self.columns = columns
        self.number = number

    @property
    def head(self) -> Head:
        """What is said of the rule without parsing it."""
        return self.columns.heads[self.number]

    @property
    def text(self) -> str:
        """The canonical text of the rule."""
        text = self.columns.texts[self.number]
        return text if isinstance(text, str) else self.head.text[text:]

    @property
    def conditions(self) -> bytes:
        """The JSON of both conditions, with a tab between them."""
        ends, number = self.columns.ends, self.number
        return self.columns.conditions[ends[number - 1] if number else 0 : ends[number]]

    def at(self, id: str, span: Span) -> StoredRule:
        """Return the rule as it stands at a place."""
        columns, number = self.columns, self.number
        head = columns.heads[number]
        made: Any = _new(_Unfinished)
        made.id = id
        made.verdict = head.verdict
        made.tools = columns.tools[number]
        made.shadow = head.shadow
        made.with_approval = columns.with_approval[number]
        made.speaks_of_resources = columns.speaks_of_resources[number]
        made.slots = columns.slots[number]
        made.terms = columns.terms[number]
        made.of_pack = columns.of_pack[number]
        made.span = span
        made.line = self
        made._read = None
        made.__class__ = StoredRule
        return made  # type: ignore[no-any-return]


class StoredRule(CheckedRule):
    """A rule that was stored, at a place. It is equal to the rule that checking gives.

    A subclass of the record, so that whoever looks at rules need not know of it; what a pass over
    all rules does not ask for is looked up by its line. Conditions are read when they are asked
    for; those that cannot be read stand for what nobody can decide. `StoredLine.at` makes them.
    """

    __slots__ = ("_read", "line")

    line: StoredLine
    _read: tuple[Test | None, Test | None] | None

    @property
    def because(self) -> str | None:
        """Why, in the author's words."""
        return self.line.columns.because[self.line.number]

    @property
    def audit(self) -> str | None:
        """What the log calls it."""
        return self.line.columns.audit[self.line.number]

    @property
    def text(self) -> str:
        """The canonical text of the rule."""
        return self.line.text

    @property
    def when(self) -> Test | None:
        """The condition of its `when`, read when it is asked for."""
        return self._conditions()[0]

    @property
    def unless(self) -> Test | None:
        """The condition of its `unless`, read when it is asked for."""
        return self._conditions()[1]

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """The canonical texts of both, which are known without reading them."""
        columns, number = self.line.columns, self.line.number
        return columns.when[number], columns.unless[number]

    def _conditions(self) -> tuple[Test | None, Test | None]:
        found = self._read
        if found is None:
            when, _, unless = self.line.conditions.decode("ascii", "replace").partition("\t")
            texts = self.texts
            found = (_test(when, texts[0]), _test(unless, texts[1]))
            object.__setattr__(self, "_read", found)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CheckedRule):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _compared())

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in _compared()))

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in _compared())
        return f"CheckedRule({told})"


class _Unfinished(CheckedRule):
    """A stored rule that is being made: the same slots, and nothing that forbids to fill them."""

    __slots__ = ("_read", "line")

    # Both, or each assignment goes by a function of the record.
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__


_new = object.__new__


@cache
def _compared() -> tuple[str, ...]:
    return tuple(one.name for one in fields(CheckedRule) if one.compare)


def _test(told: str, text: str | None) -> Test | None:
    try:
        test: Test | None = read(told, Test | None)
    except NotStorable:
        return _UNREADABLE
    return test if (None if test is None else test.text) == text else _UNREADABLE
