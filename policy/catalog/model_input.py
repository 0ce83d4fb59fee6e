"""Reads an input by a tool's argument model, and gives the result back as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

_Model = TypeVar("_Model", bound=BaseModel)
_MOST = 5


def read_arguments(model: type[_Model], given: Mapping[str, Any]) -> _Model:
    """Return the input as an object of the model; ValueError if the model refuses it.

    No message quotes a value.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        refused = error
    # JSON has no dates, tuples or enums: a strict model accepts them as strings and lists only from
    # JSON input.
    try:
        return model.model_validate_json(json.dumps(given, default=_number))
    except (ValidationError, TypeError, ValueError, RecursionError):
        raise ValueError("; ".join(refusals(refused))) from None


def model_as_json(arguments: BaseModel, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's object as JSON, `given` being what it was read from.

    Raises ValueError for a model that parses its own JSON differently: a tool reads its arguments
    from the judged call, so it would run another call than the judged one.
    """
    result = model_as_input(arguments)
    if result == given:
        return result
    again = read_arguments(type(arguments), result)
    # Compared as Python values too: the order of a set has no meaning, and varies.
    if model_as_input(again) != result and again.model_dump() != arguments.model_dump():
        raise ValueError("the tool parses its own output of this input differently")
    return result


def refusals(error: ValidationError) -> list[str]:
    """Return why a model refuses an input, a line each, a few at most."""
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


def model_as_input(arguments: BaseModel) -> dict[str, Any]:
    """Return the JSON input that gives a model's object.

    A field that is null by default and null here is left out.
    """
    dumped: dict[str, Any] = arguments.model_dump(mode="json", by_alias=True, round_trip=True)
    _leave_out(dumped, arguments)
    return dumped


def _leave_out(dumped: Any, value: Any) -> None:
    if isinstance(value, BaseModel) and isinstance(dumped, dict):
        for name, info in type(value).model_fields.items():
            key = info.serialization_alias or info.alias or name
            item = getattr(value, name)
            if item is None and info.default is None and dumped.get(key, ...) is None:
                del dumped[key]
            elif key in dumped:
                _leave_out(dumped[key], item)
    elif isinstance(value, Mapping) and isinstance(dumped, dict):
        for inner, item in zip(dumped.values(), value.values(), strict=False):
            _leave_out(inner, item)
    elif isinstance(value, (list, tuple)) and isinstance(dumped, list):
        for inner, item in zip(dumped, value, strict=False):
            _leave_out(inner, item)


def _number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError("not a JSON value")
