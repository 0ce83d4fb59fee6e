"""What a tool returns, as JSON of the shape that its author declared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import reduce
from operator import or_
from pathlib import PurePath
from typing import Any, get_type_hints
from uuid import UUID

import orjson
from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from policy.catalog import named_fields, read_only_schema, schema_strictify
from policy.model import Execution
from policy.tools.service import ToolOutput

_MOST = 3
# Annotations that declare nothing about the value.
_SILENT: tuple[Any, ...] = (Any, object, BaseModel, ToolOutput)
_AS_TEXT = (Enum, date, time, timedelta, UUID, PurePath, Decimal)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputShape:
    """The declared shape of a tool's outputs: `schema` for models, `adapter` for checking."""

    schema: Mapping[str, Any]
    adapter: TypeAdapter[Any]

    def shaped(self, tool: str, value: Any) -> Any:
        """Return the value as JSON of this shape; else raise Execution, without quoting it."""
        if isinstance(value, ToolOutput):
            return replace(value, value=self.shaped(tool, value.value))
        try:
            return as_json(self._dumped(self._checked(value)))
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            said = "; ".join(self._sentence(each) for each in found[:_MOST])
            raise Execution(
                tool, f"{tool} has run, but what it returned does not match its declaration: {said}"
            ) from None
        except (PydanticSerializationError, TypeError, ValueError):
            raise Execution(
                tool, f"{tool} has run, but what it returned cannot be shown as JSON"
            ) from None

    def _checked(self, value: Any) -> Any:
        try:
            return self.adapter.validate_python(value, strict=True)
        except ValidationError:
            # JSON in place of a model's object.
            return self.adapter.validate_json(orjson.dumps(as_json(value)), strict=True)

    def _dumped(self, value: Any) -> Any:
        return self.adapter.dump_python(value, mode="json", by_alias=True, warnings="error")

    def _sentence(self, found: Any) -> str:
        """Return where a value is invalid, using only names from the schema: others are values."""
        steps: list[str | int] = []
        for step in found["loc"]:
            known = named_fields(self.schema, tuple(steps)) or ()
            if isinstance(step, int):
                steps.append("*")
            elif step in known:
                steps.append(step)
        # An author's own validators may quote the value they reject.
        own = found["type"] in ("value_error", "assertion_error")
        text = str(found["msg"])
        said = "it is invalid" if own else _lowered(text)
        return f"`{'.'.join(map(str, steps))}`: {said}" if steps else said


def output_shape(declared: Any) -> OutputShape | None:
    """Return the shape that a type declares; None if it declares nothing.

    Raises TypeError for a type that has no JSON form.
    """
    if declared is None or _is_silent(declared):
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(declared)
        schema = schema_strictify(adapter.json_schema(mode="serialization"))
    except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, PydanticUserError):
        raise TypeError("the result of a tool must be of a type that JSON has") from None
    return OutputShape(schema=read_only_schema(schema), adapter=adapter)


def returned_shape(*calls: Callable[..., Any], names: Mapping[str, Any]) -> OutputShape | None:
    """Return the shape declared by the return annotations of functions, all of them together.

    None if one declares nothing, or a type that cannot be resolved or be JSON: an annotation is
    not a contract here. `names` are looked up besides those of the functions' modules.
    """
    try:
        kinds = tuple(_returned(call, names) for call in calls)
        if not kinds or any(kind is None or _is_silent(kind) for kind in kinds):
            return None
        return output_shape(reduce(or_, kinds))
    except (NameError, TypeError, SyntaxError, AttributeError):
        return None


def _returned(call: Callable[..., Any], names: Mapping[str, Any]) -> Any:
    function = getattr(call, "__func__", call)
    said = getattr(function, "__annotations__", {})
    if "return" not in said:
        return None

    def holder() -> None: ...

    # The other annotations need not be resolvable.
    holder.__annotations__ = {"return": said["return"]}
    around = getattr(function, "__globals__", {})
    hints = get_type_hints(holder, globalns=around, localns=dict(names), include_extras=True)
    return hints["return"]


def _is_silent(kind: Any) -> bool:
    return any(kind is silent for silent in _SILENT)


def as_json(value: Any) -> Any:
    """Return a tool's result as a JSON value; raise TypeError if that is impossible."""
    if value is None or (isinstance(value, (bool, int, str)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError("a tool returned a number that JSON does not have")
        return value
    if isinstance(value, BaseModel):
        return as_json(value.model_dump(mode="json", by_alias=True))
    if isinstance(value, Mapping):
        return {_key(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(item) for item in value]
    if isinstance(value, _AS_TEXT) or (is_dataclass(value) and not isinstance(value, type)):
        return as_json(to_jsonable_python(value))
    raise TypeError(f"a tool returned a {type(value).__name__}, which is not a JSON value")


def _key(key: Any) -> str:
    return key.value if isinstance(key, Enum) and isinstance(key.value, str) else str(key)


def _lowered(text: str) -> str:
    """Return a sentence of pydantic's as a clause about an output."""
    clause = text[:1].lower() + text[1:]
    return f"it {rest}" if (rest := clause.removeprefix("input ")) != clause else clause
