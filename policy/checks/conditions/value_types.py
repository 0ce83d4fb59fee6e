"""The types of values in conditions: of literals, facts and fields, and which can be compared.

A kind is what is certain about a value before any call. `ANY` says nothing, so that a check
complains only of what no call can make right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from policy.catalog import FieldInfo
from policy.values import SQL_KINDS


@dataclass(frozen=True, slots=True)
class ValueType:
    """The kinds a value may have, by name (None: any), and the kind of its elements if a list.

    `fields` are those of an object that has no others, `words` the only texts it can be.
    """

    names: frozenset[str] | None = None
    item: ValueType | None = None
    fields: tuple[tuple[str, ValueType], ...] | None = None
    words: tuple[str, ...] | None = None

    def __str__(self) -> str:
        if self.names is None:
            return "anything"
        return " or ".join(f"{_ARTICLES.get(name, 'a')} {name}" for name in sorted(self.names))

    def may_be(self, *names: str) -> bool:
        """Tell whether a value of this kind can be one of these."""
        return self.names is None or not self.names.isdisjoint(names)

    def must_be(self, *names: str) -> bool:
        """Tell whether a value of this kind is certainly one of these."""
        return self.names is not None and self.names <= frozenset(names)

    @property
    def element(self) -> ValueType:
        """The kind of one element; a single value where a list is expected is a list of one."""
        if self.must_be("list"):
            return self.item or ANY
        return ANY if self.may_be("list") else self


_ARTICLES = {"object": "an"}

ANY = ValueType()
TEXT = ValueType(frozenset({"text"}))
NUMBER = ValueType(frozenset({"number"}))
BOOLEAN = ValueType(frozenset({"boolean"}))
TIME = ValueType(frozenset({"time"}))
SPAN = ValueType(frozenset({"span"}))
OBJECT = ValueType(frozenset({"object"}))
LIST = ValueType(frozenset({"list"}))
TEXTS = ValueType(frozenset({"list"}), TEXT)

ORDERED = ("number", "time", "span", "text")
FACTS: Mapping[tuple[str, ...], ValueType] = MappingProxyType(
    {
        ("input",): OBJECT,
        ("call", "reads"): TEXTS,
        ("call", "writes"): TEXTS,
        ("call", "hosts"): TEXTS,
        ("call", "commands"): TEXTS,
        ("call", "recipients"): TEXTS,
        ("call", "unseen"): BOOLEAN,
        ("tool", "name"): TEXT,
        ("tool", "origin"): TEXT,
        ("tool", "server"): TEXT,
        ("tool", "category"): TEXT,
        ("tool", "read_only"): BOOLEAN,
        ("tool", "destructive"): BOOLEAN,
        ("tool", "idempotent"): BOOLEAN,
        ("tool", "pinned"): BOOLEAN,
        ("agent", "name"): TEXT,
        ("agent", "roles"): TEXTS,
        ("agent", "depth"): NUMBER,
        ("agent", "parent"): TEXT,
        ("session", "id"): TEXT,
        ("session", "role"): TEXT,
        ("user", "id"): TEXT,
        ("user", "groups"): TEXTS,
        ("user", "said"): TEXTS,
        ("workspace",): TEXT,
        ("now",): TIME,
    }
)

# The words facts begin with; nothing may be called so.
FACT_ROOTS = frozenset({path[0] for path in FACTS} | {"context"})

# What `[context]` of the configuration may call a fact.
CONTEXT_KINDS: Mapping[str, ValueType] = MappingProxyType(
    {
        "string": TEXT,
        "text": TEXT,
        "number": NUMBER,
        "boolean": BOOLEAN,
        "list": LIST,
        "object": OBJECT,
        "time": TIME,
        "any": ANY,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a function takes and gives.

    `optional` are arguments that may be left out, `rest` is the kind of any number of others.
    """

    takes: tuple[ValueType, ...]
    gives: ValueType
    optional: tuple[ValueType, ...] = ()
    rest: ValueType | None = None

    @property
    def most(self) -> int | None:
        """How many arguments there may be; None for any number."""
        return None if self.rest is not None else len(self.takes) + len(self.optional)

    def expects(self, place: int) -> ValueType | None:
        """Return the kind of the argument at `place` (from 0), None where there is none."""
        named = (*self.takes, *self.optional)
        return named[place] if place < len(named) else self.rest


_SIZED = ValueType(frozenset({"text", "list", "object"}))
_NUMBERS = ValueType(frozenset({"number", "list"}))
_TEXT_OR_LIST = ValueType(frozenset({"text", "list"}))


def object_type(**fields: ValueType) -> ValueType:
    """Return the kind of an object that has these fields and no others."""
    return ValueType(frozenset({"object"}), fields=tuple(fields.items()))


_URL = object_type(scheme=TEXT, host=TEXT, port=NUMBER, path=TEXT, query=TEXT, fragment=TEXT)
_SQL_STATEMENT = object_type(
    kind=ValueType(frozenset({"text"}), words=SQL_KINDS), tables=TEXTS, reads=TEXTS, writes=TEXTS
)
_SQL = object_type(
    statements=ValueType(frozenset({"list"}), _SQL_STATEMENT),
    tables=TEXTS,
    reads=TEXTS,
    writes=TEXTS,
)

FUNCTIONS: Mapping[str, Signature] = MappingProxyType(
    {
        "length": Signature(takes=(_SIZED,), gives=NUMBER),
        "min": Signature(takes=(_NUMBERS,), rest=_NUMBERS, gives=NUMBER),
        "max": Signature(takes=(_NUMBERS,), rest=_NUMBERS, gives=NUMBER),
        "values": Signature(takes=(OBJECT,), gives=LIST),
        "words": Signature(takes=(TEXT, NUMBER), gives=TEXTS),
        "first_present": Signature(takes=(ANY,), rest=ANY, gives=ANY),
        "time": Signature(takes=(TEXT,), gives=TIME),
        "date": Signature(takes=(ValueType(frozenset({"text", "time"})),), gives=ANY),
        "url": Signature(takes=(TEXT,), gives=_URL),
        "with_scheme": Signature(takes=(TEXT, TEXT), gives=TEXT),
        "links": Signature(takes=(_TEXT_OR_LIST,), gives=TEXTS),
        "sql": Signature(takes=(TEXT,), optional=(TEXT,), gives=_SQL),
    }
)

SELECTIONS = frozenset({"filter", "first", "count", "sum"})
LATER_SELECTIONS = frozenset({"latest"})


def type_of(value: Any) -> ValueType:
    """Return the kind of a value written in the policy or its data."""
    match value:
        case bool():
            return BOOLEAN
        case int() | float() | Decimal():
            return NUMBER
        case str():
            return TEXT
        case datetime():
            return TIME
        case timedelta():
            return SPAN
        case Mapping():
            return OBJECT
        case tuple() | list():
            return list_type(type_of(item) for item in value)
        case _:
            return ANY


def list_type(kinds: Iterable[ValueType]) -> ValueType:
    """Return the kind of a list whose elements have these kinds."""
    return ValueType(frozenset({"list"}), union_type(kinds))


def union_type(kinds: Iterable[ValueType]) -> ValueType | None:
    """Return the kind that covers all of these, None when there are none."""
    names: frozenset[str] = frozenset()
    items: list[ValueType] = []
    seen = False
    for kind in kinds:
        seen = True
        if kind.names is None:
            return ANY
        names |= kind.names
        if kind.item is not None:
            items.append(kind.item)
    return ValueType(names, union_type(items)) if seen else None


_JSON_KINDS = {"string": "text", "integer": "number", "list": "list"}


def type_of_field(info: FieldInfo) -> ValueType:
    """Return the kind that a schema says of a field for certain; `null` counts as absent."""
    names = frozenset(_JSON_KINDS.get(name, name) for name in info.kinds - {"null"})
    return ANY if "any" in names or not names else ValueType(names)


def comparable(left: ValueType, right: ValueType) -> bool:
    """Tell whether `==` between two such values can ever be decided."""
    if left.names is None or right.names is None:
        return True
    return not left.names.isdisjoint(right.names)


def orderable(left: ValueType, right: ValueType) -> bool:
    """Tell whether `<` between two such values can ever be decided."""
    return left.may_be(*ORDERED) and right.may_be(*ORDERED) and comparable(left, right)


def arithmetic_type(op: str, left: ValueType, right: ValueType) -> ValueType | None:
    """Return the kind of `left op right`, None where such values cannot be so combined."""
    found = [
        result
        for (sign, a, b), result in _ARITHMETIC.items()
        if sign == op and left.may_be(a) and right.may_be(b)
    ]
    return union_type(ValueType(frozenset({name})) for name in found)


_ARITHMETIC = {
    **{(op, "number", "number"): "number" for op in "+-*"},
    **{(op, "span", "span"): "span" for op in "+-"},
    ("+", "time", "span"): "time",
    ("-", "time", "span"): "time",
    ("+", "span", "time"): "time",
    ("-", "time", "time"): "span",
    ("*", "span", "number"): "span",
    ("*", "number", "span"): "span",
}
