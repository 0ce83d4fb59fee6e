"""Reads an input by a tool's argument model, and gives the result back as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from decimal import Decimal
from math import isfinite
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from policy.catalog.schemas.fields import lookup
from policy.catalog.schemas.walk import Schema, Step

_Model = TypeVar("_Model", bound=BaseModel)
_MOST = 5
# The library lists all problems or none.
_MOST_LISTED = 100
_PLAIN = frozenset({str, int, float, bool, type(None)})
_NUMBERS = frozenset({"number", "integer", "any"})
_LARGEST_EXACT = 2**53


def read_arguments(model: type[_Model], given: Mapping[str, Any]) -> _Model:
    """Return the input as an object of the model; ValueError if the model refuses it.

    No message quotes a value.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        refused = error
    # JSON has no dates, tuples or enums: a strict model accepts them as strings and lists only from
    # JSON input. A `Decimal` takes the digits of a number from a string, a `float` only a number.
    for number in (_digits, _number):
        with suppress(ValidationError, TypeError, ValueError, RecursionError):
            return model.model_validate_json(json.dumps(given, default=number))
    raise ValueError("; ".join(refusals(refused))) from None


def model_as_json(
    arguments: BaseModel, given: Mapping[str, Any], *, schema: Callable[[], Schema]
) -> dict[str, Any]:
    """Return a model's object as JSON, `given` being what it was read from.

    `schema` returns the model's schema; it says which decimals are numbers.

    Raises ValueError for a model that parses its own JSON differently: a tool reads its arguments
    from the judged call, so it would run another call than the judged one.
    """
    result = model_as_input(arguments, schema=schema)
    if result == given:
        return result
    read_again = read_arguments(type(arguments), result)
    if model_as_input(read_again, schema=schema) == result:
        return result
    # Compared as Python values too: the order of a set has no meaning, and varies.
    if read_again.model_dump() != arguments.model_dump():
        raise ValueError("the tool parses its own output of this input differently")
    return result


def refusals(error: ValidationError) -> list[str]:
    """Return why a model refuses an input, a line each, a few at most."""
    if error.error_count() > _MOST_LISTED:
        return [f"{error.error_count():,} values are not what is expected"]
    # The library's own text quotes the input; ours must not.
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        f"`{'.'.join(map(str, each['loc']))}`: {_sentence(each['msg'])}"
        if each["loc"]
        else each["msg"]
        for each in found[:_MOST]
    ]


def _sentence(said: str) -> str:
    # A pattern or a choice in it keeps its capitals.
    return said[:1].lower() + said[1:]


def model_as_input(arguments: BaseModel, *, schema: Callable[[], Schema]) -> dict[str, Any]:
    """Return the JSON input that gives a model's object.

    A field that is null by default and null here is left out. A `Decimal` is a number where the
    schema has one, so that rules can compare it; pydantic writes a string.
    """
    dumped: dict[str, Any] = arguments.model_dump(mode="json", by_alias=True, round_trip=True)

    def is_number(path: tuple[Step, ...]) -> bool:
        return not lookup(schema(), path).types.isdisjoint(_NUMBERS)

    _adapt(dumped, arguments, (), is_number)
    return dumped


def _adapt(
    dumped: Any, value: Any, path: tuple[Step, ...], is_number: Callable[[tuple[Step, ...]], bool]
) -> None:
    """Leave out what counts as absent in a dumped value, and write decimals as numbers."""
    if type(value) is list and _PLAIN.issuperset(map(type, value)):
        return
    for key, item, leave_out in list(_parts(dumped, value)):
        below = (*path, key)
        if leave_out and dumped[key] is None:
            del dumped[key]
        elif isinstance(item, Decimal):
            if isinstance(dumped[key], str) and item.is_finite() and is_number(below):
                dumped[key] = nearest_number(item)
        elif isinstance(dumped[key], (dict, list)):
            _adapt(dumped[key], item, below, is_number)


def _parts(dumped: Any, value: Any) -> Iterator[tuple[Step, Any, bool]]:
    """Yield the key, the value and whether null is left out, of each part of a dumped value."""
    if isinstance(dumped, dict):
        if isinstance(value, BaseModel):
            for name, info in type(value).model_fields.items():
                key = info.serialization_alias or info.alias or name
                item = getattr(value, name)
                if key in dumped:
                    yield key, item, item is None and info.default is None
        elif isinstance(value, Mapping):
            for key, item in zip(dumped, value.values(), strict=False):
                yield key, item, False
        elif is_dataclass(value):
            for each in fields(value):
                if each.name in dumped:
                    yield each.name, getattr(value, each.name), False
    elif isinstance(dumped, list) and isinstance(value, (list, tuple, set, frozenset)):
        for index, (_, item) in enumerate(zip(dumped, value, strict=False)):
            yield index, item, False


def nearest_number(value: Decimal) -> int | float | Decimal:
    """Return a decimal as the number that JSON with the same digits gives.

    One that a double cannot hold stays a decimal, and conditions on it are indeterminate.
    """
    if abs(value) <= _LARGEST_EXACT and value == value.to_integral_value():
        return int(value)
    near = float(value)
    return near if isfinite(near) and Decimal(repr(near)) == value else value


def _digits(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) else _number(value)


def _number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError("not a JSON value")
