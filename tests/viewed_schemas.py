"""What the view of a schema says that is wrong for an input which the validator accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from jsonschema_rs import validator_for

from policy.catalog import SchemaView, json_type_of
from policy.checks import bounds_at
from policy.model import thaw
from policy.values import compare_numbers, is_number

NAMES = ("n", "m")
_LENGTHS: Mapping[type, tuple[str, str]] = {
    str: ("minLength", "maxLength"),
    list: ("minItems", "maxItems"),
}


def objections(
    schema: Mapping[str, Any], inputs: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield inputs that the validator accepts, with what the view says of them that is not so."""
    view = SchemaView(schema)
    accepts, as_read = (
        validator_for(thaw(each), offline=True).is_valid for each in (schema, view.schema)
    )
    for given in inputs:
        if not accepts(given):
            continue
        if not as_read(given):
            yield given, "the schema as it is read rejects the input"
        yield from ((given, found) for found in _of_input(view, given))


def _of_input(view: SchemaView, given: Mapping[str, Any]) -> Iterator[str]:
    for depth in (1, 2):
        for path in product(NAMES, repeat=depth):
            there = _at(given, path)
            if view.lookup(path).required and there is _NOTHING:
                yield f"{path} is required"
            if view.is_always_there(path) and there in (_NOTHING, None):
                yield f"{path} is always there"
    yield from _objections(view, given, ())


def _objections(view: SchemaView, value: Any, path: tuple[Any, ...]) -> Iterator[str]:
    info, node = view.lookup(path), view.node(path) or {}
    if not _is_of(value, info.types):
        yield f"{path} has the types {sorted(info.types)}"
    if info.choices is not None and not any(_same(value, each) for each in info.choices):
        yield f"{path} is one of {info.choices}"
    for op, bound in bounds_at(view, path):
        if is_number(value) and compare_numbers(op, value, bound) is False:
            yield f"{path} is {op} {bound}"
    least, most = _LENGTHS.get(type(value), ("", ""))
    if least and not node.get(least, 0) <= len(value) <= node.get(most, 9):
        yield f"{path} has a length from {node.get(least)} to {node.get(most)}"
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _objections(view, below, (*path, name))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _objections(view, below, (*path, index))
            yield from _objections(view, below, (*path, "*"))


class _Nothing:
    """That there is no value."""


_NOTHING = _Nothing()


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return _NOTHING
        value = value[name]
    return value


def _is_of(value: Any, types: frozenset[str]) -> bool:
    kind = json_type_of(value)
    if kind == "number" and value == int(value):
        kind = "integer"
    return bool(types & {"any", kind}) or (kind == "integer" and "number" in types)


def _same(one: Any, other: Any) -> bool:
    if is_number(one) and is_number(other):
        return bool(one == other)
    return type(one) is type(other) and bool(one == other)
