"""Lines of text in, the checked rules that were written as such out, each when it is met again.

A line is the head of a rule and what every pass over all rules asks for, as JSON, then the JSON of
its conditions, which is read when somebody asks for them: a rule whose tool is never called costs
no more than its line. Whoever hands lines in has made sure that they are those that were written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from policy.catalog import ToolPattern, ToolSelector
from policy.checks import checked
from policy.checks.checked import CheckedRule, Test
from policy.checks.codec import NotStorable, read, write
from policy.reason import Terms
from policy.records import fields
from policy.source import Span
from policy.syntax import Head
from policy.verdict import Verdict

_FIELDS = tuple(one.name for one in fields(CheckedRule) if one.compare)
# Nobody can decide this: on an `allow` it gives nothing, on any other rule it takes.
_UNREADABLE = checked.Truth(value=checked.Constant(value="unreadable"), text="unreadable")
_VERDICTS = {str(verdict): verdict for verdict in (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)}

# The parts of a line's head, in their order, and which types they may be of.
_NONE = type(None)
_TEXT, _MAYBE, _FLAG, _NUMBER = (str,), (str, _NONE), (bool,), (int,)
_SHAPES = frozenset(
    product(
        _TEXT,  # context
        _TEXT,  # text of the statement
        _MAYBE,  # name
        _FLAG,  # shadow
        _TEXT,  # verdict
        _NUMBER,  # tools, by the number of their line
        _MAYBE,  # because
        _MAYBE,  # audit
        _FLAG,  # with approval
        _FLAG,  # speaks of resources
        _NUMBER,  # slots
        _TEXT,  # canonical text
        _NUMBER,  # terms, by the number of their line
        _FLAG,  # of a pack
        _MAYBE,  # text of `when`
        _MAYBE,  # text of `unless`
    )
)


def _said(place: int) -> Any:
    """Return the property of what stands at a place of the line's head."""
    return property(lambda rule: rule.line.head[place])


class StoredLine:
    """The line of a rule: what its head says, and the JSON of its conditions, not yet read."""

    __slots__ = ("conditions", "head", "terms", "tools")

    def __init__(
        self, head: list[Any], conditions: tuple[str, str], *, tools: ToolSelector, terms: Terms
    ) -> None:
        self.head = head
        self.conditions = conditions
        self.tools = tools
        self.terms = terms

    def at(self, id: str, span: Span) -> StoredRule:
        """Return the rule as it stands at a place."""
        return StoredRule(self, id, span=span)

    def told(self, tables: _Tables) -> str:
        """Return the line for a file with other tables."""
        head = list(self.head)
        head[5], head[12] = tables.selector(self.tools), tables.terms(self.terms)
        return "\t".join((json.dumps(head, separators=(",", ":")), *self.conditions))


class StoredRule(CheckedRule):
    """A rule that was stored, at a place. It is equal to the rule that checking gives.

    A subclass of the record, so that whoever looks at rules need not know of it; what a pass over
    all rules does not ask for is looked up in the line. Conditions are read when they are asked
    for; those that cannot be read stand for what nobody can decide.
    """

    __slots__ = ("_read", "line")

    line: StoredLine
    _read: tuple[Test | None, Test | None] | None

    def __init__(self, line: StoredLine, id: str, *, span: Span) -> None:
        put = object.__setattr__
        put(self, "id", id)
        put(self, "verdict", _VERDICTS[line.head[4]])
        put(self, "tools", line.tools)
        put(self, "terms", line.terms)
        put(self, "span", span)
        put(self, "line", line)
        put(self, "_read", None)

    shadow = _said(3)
    because = _said(6)
    audit = _said(7)
    with_approval = _said(8)
    speaks_of_resources = _said(9)
    slots = _said(10)
    text = _said(11)
    of_pack = _said(13)

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
        head = self.line.head
        return head[14], head[15]

    def _conditions(self) -> tuple[Test | None, Test | None]:
        found = self._read
        if found is None:
            (when, unless), texts = self.line.conditions, self.texts
            found = (_test(when, texts[0]), _test(unless, texts[1]))
            object.__setattr__(self, "_read", found)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CheckedRule):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in _FIELDS))

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in _FIELDS)
        return f"CheckedRule({told})"


def _test(told: str, text: str | None) -> Test | None:
    try:
        test: Test | None = read(told, Test | None)
    except NotStorable:
        return _UNREADABLE
    return test if (None if test is None else test.text) == text else _UNREADABLE


class _Tables:
    """Selectors and terms that many rules share, each with a number."""

    def __init__(self) -> None:
        self.selectors: dict[ToolSelector, int] = {}
        self.kinds: dict[Terms, int] = {}

    def selector(self, found: ToolSelector) -> int:
        return self.selectors.setdefault(found, len(self.selectors))

    def terms(self, found: Terms) -> int:
        return self.kinds.setdefault(found, len(self.kinds))


# ------------------------------------------------------------------ out


def lines_of(
    rules: Mapping[tuple[str, str], CheckedRule | StoredLine], heads: Mapping[str, Head]
) -> Iterator[str]:
    """Yield the lines of a file: how many of each kind, selectors, terms, then rules.

    What has no form is left out: it is checked again when it is met.
    """
    tables = _Tables()
    told = [
        line
        for (context, text), rule in rules.items()
        if (line := _line(context, rule, head=heads.get(text), tables=tables))
    ]
    yield json.dumps([len(tables.selectors), len(tables.kinds), len(told)])
    yield from map(_selector, tables.selectors)
    yield from map(write, tables.kinds)
    yield from told


def _selector(tools: ToolSelector) -> str:
    """Return the line of a selector; of one plain name, which most are, a short one."""
    if len(tools.included) == 1 and not tools.excluded:
        pattern = tools.included[0]
        if isinstance(pattern, ToolPattern) and pattern.origin is None:
            return json.dumps([pattern.text, tools.gives])
    return write(tools)


def _line(
    context: str, rule: CheckedRule | StoredLine, *, head: Head | None, tables: _Tables
) -> str | None:
    if isinstance(rule, StoredLine):
        return rule.told(tables)
    if head is None:
        return None
    try:
        when, unless = _both(rule)
        known = (tables.selector(rule.tools), tables.terms(rule.terms))
        parts = [
            context,
            head.text,
            head.name,
            head.shadow,
            str(head.verdict),
            known[0],
            rule.because,
            rule.audit,
            rule.with_approval,
            rule.speaks_of_resources,
            rule.slots,
            rule.text,
            known[1],
            rule.of_pack,
            *rule.texts,
        ]
    except NotStorable:
        return None
    return "\t".join((json.dumps(parts, separators=(",", ":")), when, unless))


def _both(rule: CheckedRule) -> tuple[str, str]:
    """Return the JSON of both conditions."""
    if isinstance(rule, StoredRule):
        return rule.line.conditions
    return write(rule.when), write(rule.unless)


# ------------------------------------------------------------------ in


def read_lines(
    lines: Iterable[str],
) -> tuple[Mapping[str, Head], Mapping[tuple[str, str], StoredLine]]:
    """Return the heads and the rules of a file's lines; raise NotStorable for any other text."""
    found = iter(lines)
    decode = json.JSONDecoder().raw_decode
    try:
        selectors, kinds, rules = json.loads(next(found))
        tools = [_tools(next(found)) for _ in range(selectors)]
        terms = [read(next(found), Terms) for _ in range(kinds)]
        heads: dict[str, Head] = {}
        stored: dict[tuple[str, str], StoredLine] = {}
        for _ in range(rules):
            line = next(found)
            head, end = decode(line)
            _, when, unless = line[end:].split("\t")
            _require_sound(head, tools=len(tools), terms=len(terms))
            text = head[1]
            if text not in heads:
                heads[text] = Head(text, head[2], verdict=_VERDICTS[head[4]], shadow=head[3])
            stored[head[0], text] = StoredLine(
                head, (when, unless), tools=tools[head[5]], terms=terms[head[12]]
            )
    except NotStorable:
        raise
    except (StopIteration, TypeError, ValueError, KeyError, RecursionError) as error:
        raise NotStorable("this was not stored here") from error
    return heads, stored


def _tools(line: str) -> ToolSelector:
    told = json.loads(line)
    match told:
        case [str(text), bool(gives)]:
            return ToolSelector(included=(ToolPattern(text=text),), gives=gives)
        case _:
            found: ToolSelector = read(line, ToolSelector)
            return found


def _require_sound(head: Any, *, tools: int, terms: int) -> None:
    if type(head) is not list or tuple(map(type, head)) not in _SHAPES:
        raise NotStorable("a line of another form")
    if not (0 <= head[5] < tools and 0 <= head[12] < terms and head[4] in _VERDICTS):
        raise NotStorable("a line of something that is not there")
