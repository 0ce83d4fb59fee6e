"""Checked rules in, the bytes that another process reads them from out; and back, or an error.

There are three parts. The first holds a column for each field of all rules, in JSON that is read at
once; selectors, terms, heads and the kinds of units, which many rules share, have columns of their
own. The second is the JSON of conditions, which is read when somebody asks for them, the third the
texts of statements and conditions: they are most of what there is to read, and need no decoding.
Whoever hands parts in has made sure that they were written here; what every column may hold is
looked at nevertheless.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeAlias

from policy.catalog import ToolPattern, ToolSelector, select_name
from policy.checks.checked import CheckedRule
from policy.checks.codec import NotStorable, read, write
from policy.checks.stored import Columns, StoredLine, StoredRule
from policy.reason import Terms
from policy.syntax import Head
from policy.verdict import Verdict

# A unit's kind, and the text of a rule in it.
_Key: TypeAlias = tuple[str, str]
_Kinds: TypeAlias = frozenset[type]

_VERDICTS = {str(verdict): verdict for verdict in (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)}

# What ends each of the texts.
_END = "\0"

# What the columns of a table may hold.
_TEXT, _FLAG, _NUMBER = frozenset({str}), frozenset({bool}), frozenset({int})
_MAYBE = _TEXT | {type(None)}
_SELECTORS = (
    _TEXT,  # a pattern of flat names, or the JSON of any other selector
    _FLAG | {type(None)},  # whether that pattern gives; None for any other selector
)
_HEADS = (
    _MAYBE,  # name
    _FLAG,  # shadow
    _TEXT,  # verdict
)
_RULES = (
    _NUMBER,  # kind of unit, by the number of it
    _NUMBER,  # head
    _NUMBER,  # tools
    _MAYBE,  # because
    _MAYBE,  # audit
    _FLAG,  # with approval
    _FLAG,  # speaks of resources
    _NUMBER,  # slots
    _TEXT | _NUMBER,  # canonical text, or where in the statement it begins
    _NUMBER,  # terms
    _FLAG,  # of a pack
    _MAYBE,  # text of `unless`
    _NUMBER,  # where the JSON of both ends
)


# ------------------------------------------------------------------ out


def write_rules(
    rules: Mapping[_Key, CheckedRule | StoredLine], heads: Mapping[str, Head]
) -> tuple[bytes, bytes, bytes]:
    """Return the parts of rules; what has no form is left out, and checked again when it is met."""
    told = _Told()
    for (context, text), rule in rules.items():
        told.add(context, rule, heads.get(text))
    return told.parts()


class _Told:
    """The rules so far, and what they share, each with a number."""

    def __init__(self) -> None:
        self._contexts: dict[str, int] = {}
        self._selectors: dict[ToolSelector, int] = {}
        self._terms: dict[Terms, int] = {}
        self._heads: dict[str, tuple[int, Head]] = {}
        self._rows: list[tuple[Any, ...]] = []
        self._conditions: list[bytes] = []
        self._when: list[str | None] = []
        self._end = 0

    def add(self, context: str, rule: CheckedRule | StoredLine, head: Head | None) -> None:
        """Add a rule, if it has a form."""
        line = rule.line if isinstance(rule, StoredRule) else rule
        try:
            if isinstance(line, StoredLine):
                self._add_again(context, line)
            elif head is not None:
                self._add_new(context, line, head)
        except NotStorable:
            return

    def _add_again(self, context: str, line: StoredLine) -> None:
        columns, number = line.columns, line.number
        self._row(
            (
                _number(self._contexts, context),
                self._head(line.head),
                _number(self._selectors, columns.tools[number]),
                columns.because[number],
                columns.audit[number],
                columns.with_approval[number],
                columns.speaks_of_resources[number],
                columns.slots[number],
                columns.texts[number],
                _number(self._terms, columns.terms[number]),
                columns.of_pack[number],
                columns.unless[number],
            ),
            when=columns.when[number],
            conditions=line.conditions,
        )

    def _add_new(self, context: str, rule: CheckedRule, head: Head) -> None:
        when, unless = rule.texts
        _require_plain(head.text)
        _require_plain(when or "")
        conditions = f"{write(rule.when)}\t{write(rule.unless)}".encode("ascii")
        self._row(
            (
                _number(self._contexts, context),
                self._head(head),
                _number(self._selectors, rule.tools),
                rule.because,
                rule.audit,
                rule.with_approval,
                rule.speaks_of_resources,
                rule.slots,
                _beginning(rule.text, head.text),
                _number(self._terms, rule.terms),
                rule.of_pack,
                unless,
            ),
            when=when,
            conditions=conditions,
        )

    def _row(self, row: tuple[Any, ...], *, when: str | None, conditions: bytes) -> None:
        self._when.append(when)
        self._end += len(conditions)
        self._rows.append((*row, self._end))
        self._conditions.append(conditions)

    def _head(self, head: Head) -> int:
        return self._heads.setdefault(head.text, (len(self._heads), head))[0]

    def parts(self) -> tuple[bytes, bytes, bytes]:
        """Return the parts of all."""
        heads = [(h.name, h.shadow, str(h.verdict)) for _, h in self._heads.values()]
        tables = (
            list(self._contexts),
            _columns(map(_selector, self._selectors), _SELECTORS),
            list(map(write, self._terms)),
            _columns(heads, _HEADS),
            _columns(self._rows, _RULES),
        )
        texts = [*self._heads, *(when or "" for when in self._when)]
        return (
            json.dumps(tables, separators=(",", ":")).encode("ascii"),
            b"".join(self._conditions),
            "".join([text + _END for text in texts]).encode("utf-8"),
        )


def _require_plain(text: str) -> None:
    """See that a text can stand among others."""
    if _END in text or not _can_be_encoded(text):
        raise NotStorable("a text of odd characters")


def _can_be_encoded(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _number(table: dict[Any, int], value: Any) -> int:
    return table.setdefault(value, len(table))


def _columns(rows: Iterable[tuple[Any, ...]], kinds: tuple[_Kinds, ...]) -> list[list[Any]]:
    return list(map(list, zip(*rows, strict=True))) or [[] for _ in kinds]


def _beginning(text: str, whole: str) -> str | int:
    """Return where in the text of its statement a canonical text begins, or that text."""
    return len(whole) - len(text) if whole.endswith(text) else text


def _selector(tools: ToolSelector) -> tuple[str, bool | None]:
    """Return the row of a selector."""
    if len(tools.included) == 1 and not tools.excluded:
        pattern = tools.included[0]
        if isinstance(pattern, ToolPattern) and pattern.origin is None:
            return pattern.text, tools.gives
    return write(tools), None


# ------------------------------------------------------------------ in


def read_rules(
    tables: bytes, conditions: bytes, texts: bytes
) -> tuple[dict[str, Head], dict[_Key, StoredLine]]:
    """Return the heads and the rules of some parts; raise NotStorable for any others."""
    try:
        contexts, selectors, terms, heads, rules = json.loads(str(tables, "ascii"))
        _require_columns([contexts], (_TEXT,))
        _require_columns(selectors, _SELECTORS)
        _require_columns([terms], (_TEXT,))
        _require_columns(heads, _HEADS)
        _require_columns(rules, _RULES)
        known, when = _texts(texts, len(heads[0]), len(rules[0]))
        return _rules(
            rules,
            contexts=contexts,
            tools=list(map(_tools, *selectors)),
            terms=[read(one, Terms) for one in terms],
            heads=_heads(known, *heads),
            when=when,
            conditions=conditions,
        )
    except NotStorable:
        raise
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise NotStorable("this was not stored here") from error


def _rules(
    found: list[list[Any]],
    *,
    contexts: list[str],
    tools: list[ToolSelector],
    terms: list[Terms],
    heads: list[Head],
    when: list[str | None],
    conditions: bytes,
) -> tuple[dict[str, Head], dict[_Key, StoredLine]]:
    context, head, selector, because, audit, approval, speaks, slots, text, kind, *more = found
    of_pack, unless, ends = more
    columns = Columns(
        heads=_looked_up(heads, head),
        tools=_looked_up(tools, selector),
        because=because,
        audit=audit,
        with_approval=approval,
        speaks_of_resources=speaks,
        slots=slots,
        texts=text,
        terms=_looked_up(terms, kind),
        of_pack=of_pack,
        when=when,
        unless=unless,
        ends=ends,
        conditions=conditions,
    )
    _require_natural(slots)
    _require_natural([one for one in text if type(one) is int])
    _require_natural(ends)
    keys = zip(_looked_up(contexts, context), [one.text for one in columns.heads], strict=True)
    lines = [StoredLine(columns, number) for number in range(len(context))]
    return {one.text: one for one in heads}, dict(zip(keys, lines, strict=True))


def _tools(text: str, gives: bool | None) -> ToolSelector:  # noqa: FBT001 — a row of two columns
    if gives is not None:
        return select_name(text, gives=gives)
    found: ToolSelector = read(text, ToolSelector)
    return found


def _texts(told: bytes, heads: int, rules: int) -> tuple[list[str], list[str | None]]:
    """Return the texts of the statements, and of the conditions that there are."""
    found = str(told, "utf-8").split(_END)
    if len(found) != heads + rules + 1:
        raise NotStorable("another number of texts")
    return found[:heads], [text or None for text in found[heads:-1]]


def _heads(
    texts: list[str], names: list[str | None], shadows: list[bool], verdicts: list[str]
) -> list[Head]:
    known = [_VERDICTS[verdict] for verdict in verdicts]
    # As `Head(…)` for each, without a call of a function in Python.
    rows = zip(texts, names, known, shadows, strict=True)
    return list(map(_new_tuple, repeat(Head), rows))


_new_tuple: Any = tuple.__new__


def _looked_up(table: Sequence[Any], numbers: list[int]) -> list[Any]:
    """Return what stands in a table at each of these numbers; none may count from its end."""
    _require_natural(numbers)
    try:
        return [table[number] for number in numbers]
    except IndexError as error:
        raise NotStorable("a number of something that is not there") from error


def _require_natural(numbers: list[int]) -> None:
    if numbers and min(numbers) < 0:
        raise NotStorable("a number below zero")


def _require_columns(columns: Any, kinds: tuple[_Kinds, ...]) -> None:
    if type(columns) is not list or len(columns) != len(kinds):
        raise NotStorable("other columns")
    for column, kind in zip(columns, kinds, strict=True):
        if type(column) is not list or len(column) != len(columns[0]):
            raise NotStorable("columns of different length")
        if not kind.issuperset({*map(type, column)}):
            raise NotStorable("a column of something else")
