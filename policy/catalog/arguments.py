"""A tool's definition for policies, from its argument model (a pydantic class).

The class name is the tool's name, its docstring the description, and markers on its fields say
which arguments are resources:

    class FileRead(Arguments):
        path: Annotated[str, Reads(), Field(description="The file to read.")]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from inspect import cleandoc
from typing import Any

from pydantic import BaseModel, ConfigDict, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from policy.catalog.markers import resources_of
from policy.catalog.model_input import model_as_json, nearest_number, read_arguments
from policy.catalog.name_repair import snake_case
from policy.catalog.schemas.model_form import schema_strictify
from policy.catalog.schemas.walk import read_only_schema
from policy.catalog.tool import Origin, Resource, ToolSpec


class Arguments(BaseModel):
    """The base class of argument models. Strict: only repairs by the schema convert values."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True
    )


def tool_of(
    model: type[BaseModel],
    *,
    category: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    complete: bool = True,
    unseen: bool = False,
    exec_class: bool = False,
    requires_confirmation: bool = False,
) -> ToolSpec:
    """Return the definition of the host application's tool with these arguments."""
    name = snake_case(model.__name__)
    return ToolSpec(
        name=name,
        origin=Origin(kind="host", tool=name),
        description=cleandoc(model.__doc__ or ""),
        schema=read_only_schema(schema_of(model)),
        resources=tuple(resources_of(model)),
        complete=complete,
        unseen=unseen,
        requires_confirmation=requires_confirmation,
        exec_class=exec_class,
        category=category,
        read_only=read_only,
        destructive=destructive,
        pinned=True,
        coerce=coercion_of(model),
    )


@dataclass(frozen=True, slots=True)
class ModelArguments:
    """The arguments of a tool that are defined by one model."""

    model: type[BaseModel]

    @property
    def schema(self) -> Mapping[str, Any]:
        """The plain schema of the model."""
        return schema_of(self.model)

    def read(self, given: Mapping[str, Any]) -> BaseModel:
        """Return the input as an object of the model; ValueError says where it refuses."""
        return read_arguments(self.model, given)

    def coerce(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the input as parsed by the model, as JSON."""
        return model_as_json(self.read(given), given, schema=lambda: _known_schema_of(self.model))

    def resources(self) -> Iterator[Resource]:
        """Yield the resources that the markers on the model's fields declare."""
        return resources_of(self.model)


def coercion_of(model: type[BaseModel]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return the function that parses an input with the model, to JSON or a ValueError."""
    return ModelArguments(model).coerce


class _DecimalsAreNumbers(GenerateJsonSchema):
    """Declares a `Decimal` as a number, as which it is judged (see `model_as_input`).

    Pydantic declares a number or a string: rules could then compare with both, and only one would
    ever be true. A string with digits is still read as the number.
    """

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        written = super().decimal_schema(schema)
        branches = written.get("anyOf", ())
        number = next((part for part in branches if part.get("type") == "number"), written)
        # 0.1 is no multiple of 0.01 among doubles: the model checks that by itself.
        return {key: value for key, value in number.items() if key != "multipleOf"}

    def encode_default(self, dft: Any) -> Any:
        is_number = isinstance(dft, Decimal) and dft.is_finite()
        return nearest_number(dft) if is_number else super().encode_default(dft)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the plain schema of a model; TypeError for types without a JSON form."""
    try:
        written = model.model_json_schema(schema_generator=_DecimalsAreNumbers)
    except PydanticUserError as error:
        said = str(error).partition("\n")[0]
        raise TypeError(f"`{model.__name__}` has no JSON Schema: {said}") from None
    schema = schema_strictify(written)
    schema.pop("description", None)
    properties = {name: _present(part) for name, part in schema.get("properties", {}).items()}
    # Tools without arguments are closed too.
    return {**schema, "properties": properties, "additionalProperties": False}


_known_schema_of = lru_cache(maxsize=256)(schema_of)


def _present(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field where it is present: null counts as absent."""
    branches = [part for part in field.get("anyOf", ()) if part != {"type": "null"}]
    if len(branches) != 1 or field.get("default", ...) is not None:
        return field
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    return {**branches[0], **rest}
