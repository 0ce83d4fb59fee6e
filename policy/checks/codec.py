"""The conditions and tools of a checked rule in, JSON out; and back: exactly the same, or an error.

A node is a list of its class's name and its fields in order, a tuple one that begins with `t`.
What is read is held against what the class says of its fields, so a text that was not written here
makes no node.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from policy.catalog import ToolPattern, ToolSelector
from policy.checks import checked
from policy.reason import Remembering, Terms
from policy.records import fields, is_dataclass

Accepts: TypeAlias = Callable[[Any], bool]

_NODES: Mapping[str, type[Any]] = MappingProxyType(
    {
        kind.__name__: kind
        for kind in (
            *(get_args(checked.Value) + get_args(checked.Test)),
            checked.ValueSet,
            checked.WorkspaceItem,
            ToolPattern,
            ToolSelector,
            Terms,
            Remembering,
        )
    }
)
_KINDS = frozenset(_NODES.values())
_PLAIN = (NoneType, bool, int, str, float)


class NotStorable(ValueError):
    """A value that has no form here, or a text that is the form of none."""


def write(value: Any) -> str:
    """Return the JSON of a value, in ASCII on one line."""
    try:
        return json.dumps(_told(value), separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise NotStorable("this cannot be stored") from error


def read(text: str, kind: Any) -> Any:
    """Return what was written, of this kind: a class, or a union of some."""
    try:
        value = _read(json.loads(text))
    except NotStorable:
        raise
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise NotStorable("this was not stored here") from error
    if not _accepts(kind)(value):
        raise NotStorable("this is of another kind")
    return value


# ------------------------------------------------------------------ out


def _told(value: Any) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple:
        return ["t", *map(_told, value)]
    if kind in _KINDS:
        return [kind.__name__, *(_told(getattr(value, name)) for name in _names(kind))]
    if kind is Decimal:
        return ["n", str(value)]
    if kind is frozenset:
        return ["s", *sorted(map(_told, value))]
    if kind is MappingProxyType:
        return ["m", *([_told_key(key), _told(part)] for key, part in value.items())]
    if kind is timedelta:
        return ["span", value.days, value.seconds, value.microseconds]
    if kind is date or (kind is datetime and _is_plain(value)):
        return [kind.__name__, value.isoformat()]
    raise NotStorable(f"a {kind.__name__}")


def _is_plain(moment: datetime) -> bool:
    """Tell whether the text of a moment says all of it: its zone is none with a name."""
    return type(moment.tzinfo) in (NoneType, timezone) and not moment.fold


def _told_key(key: Any) -> str:
    if type(key) is not str:
        raise NotStorable("a key that is no text")
    return key


# ------------------------------------------------------------------ in


def _read(told: Any) -> Any:
    if type(told) is not list:
        if type(told) is dict:
            raise NotStorable("an object")
        return told
    tag, *parts = told
    if tag == "t":
        return tuple([_read(part) for part in parts])
    node = _NODES.get(tag)
    if node is not None:
        return _node(node, [_read(part) for part in parts])
    reader = _READERS.get(tag)
    if reader is None:
        raise NotStorable("a form that nobody wrote")
    return reader(parts)


def _node(kind: Any, values: list[Any]) -> Any:
    known = _fields(kind)
    if len(values) != len(known):
        raise NotStorable(f"other fields than those of a {kind.__name__}")
    for value, (name, accepts) in zip(values, known, strict=True):
        if not accepts(value):
            raise NotStorable(f"`{name}` of a {kind.__name__} of another kind")
    return kind(**{name: value for value, (name, _) in zip(values, known, strict=True)})


def _one_text(parts: list[Any]) -> str:
    (text,) = parts
    if type(text) is not str:
        raise NotStorable("no text where one should be")
    return text


_READERS: Mapping[str, Callable[[list[Any]], Any]] = MappingProxyType(
    {
        "n": lambda parts: Decimal(_one_text(parts)),
        "s": lambda parts: frozenset(_read(part) for part in parts),
        "m": lambda parts: MappingProxyType({_told_key(key): _read(part) for key, part in parts}),
        "span": lambda parts: timedelta(*parts),
        "datetime": lambda parts: datetime.fromisoformat(_one_text(parts)),
        "date": lambda parts: date.fromisoformat(_one_text(parts)),
    }
)


# ------------------------------------------------------------------ what a field may hold


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    """Return the fields of a class that is a node; of few kinds a process reads any."""
    return tuple(one.name for one in fields(kind) if one.init)


@cache
def _fields(kind: Any) -> tuple[tuple[str, Accepts], ...]:
    hints = get_type_hints(kind)
    return tuple((name, _accepts(hints[name])) for name in _names(kind))


@cache
def _accepts(hint: Any) -> Accepts:
    """Return the test of the values that a field of this type may hold."""
    if hint is Any:
        return lambda value: True
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _one_of(get_args(hint))
    if origin is Literal:
        words = frozenset(get_args(hint))
        return lambda value: type(value) is str and value in words
    if origin is tuple:
        return _tuple_of(get_args(hint))
    if origin is frozenset:
        part = _accepts(get_args(hint)[0])
        return lambda value: type(value) is frozenset and all(map(part, value))
    assert is_dataclass(hint) or hint in (*_PLAIN, Decimal), hint
    return lambda value: type(value) is hint


def _one_of(hints: tuple[Any, ...]) -> Accepts:
    kinds = frozenset(hint for hint in hints if isinstance(hint, type) and not get_args(hint))
    others = tuple(_accepts(hint) for hint in hints if hint not in kinds)
    return lambda value: type(value) in kinds or any(test(value) for test in others)


def _tuple_of(hints: tuple[Any, ...]) -> Accepts:
    if len(hints) == 2 and hints[1] is Ellipsis:
        each = _accepts(hints[0])
        return lambda value: type(value) is tuple and all(map(each, value))
    parts = tuple(map(_accepts, hints))
    return lambda value: (
        type(value) is tuple
        and len(value) == len(parts)
        and all(test(part) for test, part in zip(parts, value, strict=True))
    )
