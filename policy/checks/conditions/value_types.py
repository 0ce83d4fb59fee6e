"""The types of values in conditions: of literals, facts and fields, and which can be compared.

A type is what is certain about a value before any call. `ANY` is unknown, so that a check reports
only what is wrong in every call.
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
    """The types a value may have, by name (None: any), and the type of the elements of a list.

    `fields` are those of an object that has no others, `words` the only possible strings. `lacking`
    has the fields that the results of some tools lack, each with the names of these tools.
    """

    names: frozenset[str] | None = None
    item: ValueType | None = None
    fields: tuple[tuple[str, ValueType], ...] | None = None
    words: tuple[str, ...] | None = None
    lacking: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        if self.names is None:
            return "anything"
        return " or ".join(f"{_ARTICLES.get(name, 'a')} {name}" for name in sorted(self.names))

    def may_be(self, *names: str) -> bool:
        """Return whether a value of this type can be one of these."""
        return self.names is None or not self.names.isdisjoint(names)

    def must_be(self, *names: str) -> bool:
        """Return whether a value of this type is certainly one of these."""
        return self.names is not None and self.names <= frozenset(names)

    @property
    def element(self) -> ValueType:
        """The type of one element; a single value counts as a list of one."""
        if self.must_be("list"):
            return self.item or ANY
        return ANY if self.may_be("list") else self

    @property
    def object(self) -> ValueType:
        """The type of the objects whose fields a step takes: also those in lists of lists."""
        found = self
        while found.must_be("list"):
            found = found.element
        return found


_ARTICLES = {"object": "an"}

ANY = ValueType()
STRING = ValueType(frozenset({"string"}))
NUMBER = ValueType(frozenset({"number"}))
BOOLEAN = ValueType(frozenset({"boolean"}))
TIME = ValueType(frozenset({"time"}))
DURATION = ValueType(frozenset({"duration"}))
OBJECT = ValueType(frozenset({"object"}))
LIST = ValueType(frozenset({"list"}))
STRINGS = ValueType(frozenset({"list"}), STRING)

ORDERED = ("number", "time", "duration", "string")
FACTS: Mapping[tuple[str, ...], ValueType] = MappingProxyType(
    {
        ("input",): OBJECT,
        ("call", "reads"): STRINGS,
        ("call", "writes"): STRINGS,
        ("call", "hosts"): STRINGS,
        ("call", "commands"): STRINGS,
        ("call", "recipients"): STRINGS,
        ("call", "unseen"): BOOLEAN,
        ("tool", "name"): STRING,
        ("tool", "origin"): STRING,
        ("tool", "server"): STRING,
        ("tool", "category"): STRING,
        ("tool", "read_only"): BOOLEAN,
        ("tool", "destructive"): BOOLEAN,
        ("tool", "idempotent"): BOOLEAN,
        ("tool", "pinned"): BOOLEAN,
        ("agent", "name"): STRING,
        ("agent", "roles"): STRINGS,
        ("agent", "depth"): NUMBER,
        ("agent", "parent"): STRING,
        ("session", "id"): STRING,
        ("session", "role"): STRING,
        ("user", "id"): STRING,
        ("user", "groups"): STRINGS,
        ("user", "said"): STRINGS,
        ("sandbox", "tier"): STRING,
        ("sandbox", "enforces"): STRINGS,
        ("workspace",): STRING,
        ("now",): TIME,
    }
)

# The first words of facts, which are reserved.
FACT_ROOTS = frozenset({path[0] for path in FACTS} | {"context"})

# The types that `[context]` of the configuration may declare for a fact.
CONTEXT_KINDS: Mapping[str, ValueType] = MappingProxyType(
    {
        "string": STRING,
        "text": STRING,
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
    """The types of a function's arguments and result.

    `optional` are optional arguments, `rest` is the type of any number of further ones.
    """

    parameters: tuple[ValueType, ...]
    result: ValueType
    optional: tuple[ValueType, ...] = ()
    rest: ValueType | None = None

    @property
    def most(self) -> int | None:
        """The largest number of arguments; None for any number."""
        return None if self.rest is not None else len(self.parameters) + len(self.optional)

    def expects(self, place: int) -> ValueType | None:
        """Return the type of the argument at index `place`, None if there is none."""
        named = (*self.parameters, *self.optional)
        return named[place] if place < len(named) else self.rest


_SIZED = ValueType(frozenset({"string", "list", "object"}))
_NUMBERS = ValueType(frozenset({"number", "list"}))
_STRING_OR_LIST = ValueType(frozenset({"string", "list"}))


def object_type(**fields: ValueType) -> ValueType:
    """Return the type of an object that has these fields and no others."""
    return ValueType(frozenset({"object"}), fields=tuple(fields.items()))


_OUTCOME = ValueType(
    frozenset({"string"}), words=("ok", "failed", "timeout", "cancelled", "running")
)


def call_type(result: ValueType) -> ValueType:
    """Return the type of an element of `calls(…)`, of tools that return such a result."""
    return object_type(input=OBJECT, result=result, age=DURATION, outcome=_OUTCOME)


_URL = object_type(
    scheme=STRING, host=STRING, port=NUMBER, path=STRING, query=STRING, fragment=STRING
)
_SQL_STATEMENT = object_type(
    kind=ValueType(frozenset({"string"}), words=SQL_KINDS),
    tables=STRINGS,
    reads=STRINGS,
    writes=STRINGS,
)
_SQL = object_type(
    statements=ValueType(frozenset({"list"}), _SQL_STATEMENT),
    tables=STRINGS,
    reads=STRINGS,
    writes=STRINGS,
)

FUNCTIONS: Mapping[str, Signature] = MappingProxyType(
    {
        "length": Signature(parameters=(_SIZED,), result=NUMBER),
        "min": Signature(parameters=(_NUMBERS,), rest=_NUMBERS, result=NUMBER),
        "max": Signature(parameters=(_NUMBERS,), rest=_NUMBERS, result=NUMBER),
        "values": Signature(parameters=(OBJECT,), result=LIST),
        "words": Signature(parameters=(STRING, NUMBER), result=STRINGS),
        "first_present": Signature(parameters=(ANY,), rest=ANY, result=ANY),
        "time": Signature(parameters=(STRING,), result=TIME),
        "date": Signature(parameters=(ValueType(frozenset({"string", "time"})),), result=ANY),
        "url": Signature(parameters=(STRING,), result=_URL),
        "with_scheme": Signature(parameters=(STRING, STRING), result=STRING),
        "links": Signature(parameters=(_STRING_OR_LIST,), result=STRINGS),
        "sql": Signature(parameters=(STRING,), optional=(STRING,), result=_SQL),
    }
)

SELECTIONS = frozenset({"filter", "first", "latest", "count", "sum"})


def type_of(value: Any) -> ValueType:
    """Return the type of a value in the policy or its data."""
    match value:
        case bool():
            return BOOLEAN
        case int() | float() | Decimal():
            return NUMBER
        case str():
            return STRING
        case datetime():
            return TIME
        case timedelta():
            return DURATION
        case Mapping():
            return OBJECT
        case tuple() | list():
            return list_type(type_of(item) for item in value)
        case _:
            return ANY


def list_of(item: ValueType) -> ValueType:
    """Return the type of a list all of whose elements have this type."""
    return ValueType(frozenset({"list"}), item)


def list_type(types: Iterable[ValueType]) -> ValueType:
    """Return the type of a list whose elements have these types."""
    return ValueType(frozenset({"list"}), union_type(types))


def union_type(types: Iterable[ValueType]) -> ValueType | None:
    """Return the union of these types, None when there are none."""
    names: frozenset[str] = frozenset()
    items: list[ValueType] = []
    seen = False
    for each in types:
        seen = True
        if each.names is None:
            return ANY
        names |= each.names
        if each.item is not None:
            items.append(each.item)
    return ValueType(names, union_type(items)) if seen else None


_JSON_TYPES = {"string": "string", "integer": "number", "list": "list"}


def type_of_field(info: FieldInfo) -> ValueType:
    """Return the type that a schema guarantees for a field; `null` counts as absent."""
    names = frozenset(_JSON_TYPES.get(name, name) for name in info.types - {"null"})
    return ANY if "any" in names or not names else ValueType(names)


def comparable(left: ValueType, right: ValueType) -> bool:
    """Return whether `==` between two such values can have a truth value."""
    if left.names is None or right.names is None:
        return True
    return not left.names.isdisjoint(right.names)


def orderable(left: ValueType, right: ValueType) -> bool:
    """Return whether `<` between two such values can have a truth value."""
    return left.may_be(*ORDERED) and right.may_be(*ORDERED) and comparable(left, right)


def arithmetic_type(op: str, left: ValueType, right: ValueType) -> ValueType | None:
    """Return the type of `left op right`, None if the operator does not apply."""
    found = [
        result
        for (sign, a, b), result in _ARITHMETIC.items()
        if sign == op and left.may_be(a) and right.may_be(b)
    ]
    return union_type(ValueType(frozenset({name})) for name in found)


_ARITHMETIC = {
    **{(op, "number", "number"): "number" for op in "+-*"},
    **{(op, "duration", "duration"): "duration" for op in "+-"},
    ("+", "time", "duration"): "time",
    ("-", "time", "duration"): "time",
    ("+", "duration", "time"): "time",
    ("-", "time", "time"): "duration",
    ("*", "duration", "number"): "duration",
    ("*", "number", "duration"): "duration",
}
