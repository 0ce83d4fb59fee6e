"""A tool's argument model (a pydantic class) in; its definition for policies out.

The class name is the tool's name, its docstring the description, and markers on its fields say
which arguments are resources:

    class FileRead(Arguments):
        path: Annotated[str, Reads(), Field(description="The file to read.")]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from policy.catalog.names import snake_case
from policy.catalog.strict import schema_strictify
from policy.catalog.tool import Origin, Resource, ToolSpec, Verb
from policy.catalog.walk import read_only_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marker:
    verb: Verb
    tree: bool = False
    tree_field: str | None = None


def Reads(*, tree: bool = False, tree_field: str | None = None) -> _Marker:  # noqa: N802
    """Mark a path that the tool reads; see `Resource` for trees."""
    return _Marker(verb="reads", tree=tree, tree_field=tree_field)


def Writes(*, tree: bool = False, tree_field: str | None = None) -> _Marker:  # noqa: N802
    """Mark a path that the tool creates, changes or deletes."""
    return _Marker(verb="writes", tree=tree, tree_field=tree_field)


def Runs() -> _Marker:  # noqa: N802
    """Mark a command line that the tool runs."""
    return _Marker(verb="runs")


def Connects() -> _Marker:  # noqa: N802
    """Mark a URL or host that the tool connects to."""
    return _Marker(verb="connects")


def Sends() -> _Marker:  # noqa: N802
    """Mark someone the tool sends to."""
    return _Marker(verb="sends")


class Arguments(BaseModel):
    """What a tool takes. Strict: only what a schema-guided repair makes plain is converted."""

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
    """Return the definition of the host's tool that takes such arguments."""
    name = snake_case(model.__name__)
    return ToolSpec(
        name=name,
        origin=Origin(kind="host", tool=name),
        description=cleandoc(model.__doc__ or ""),
        schema=read_only_schema(_schema(model)),
        resources=tuple(_resources(model, ())),
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


def coercion_of(model: type[BaseModel]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what the model makes of an input, as JSON; ValueError says where it refuses."""

    def coerce(given: dict[str, Any]) -> dict[str, Any]:
        try:
            return model.model_validate(given).model_dump(mode="json", exclude_none=True)
        except ValidationError as error:
            # The library's own text quotes the input; ours must not.
            found = error.errors(include_url=False, include_context=False, include_input=False)
            lines = (f"`{'.'.join(map(str, e['loc']))}`: {e['msg'].lower()}" for e in found[:5])
            raise ValueError("; ".join(lines)) from None

    return coerce


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = schema_strictify(model.model_json_schema())
    schema.pop("description", None)
    properties = {name: _present(part) for name, part in schema.get("properties", {}).items()}
    # Tools without arguments are closed too.
    return {**schema, "properties": properties, "additionalProperties": False}


def _present(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field where it is present: null counts as absent."""
    branches = [part for part in field.get("anyOf", ()) if part != {"type": "null"}]
    if len(branches) != 1 or field.get("default", ...) is not None:
        return field
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    return {**branches[0], **rest}


def _resources(model: type[BaseModel], steps: tuple[str, ...]) -> Iterator[Resource]:
    for name, info in model.model_fields.items():
        here = (*steps, name)
        for marker in info.metadata:
            if isinstance(marker, _Marker):
                yield _resource(marker, here)
        yield from _inside(info.annotation, here)


def _inside(kind: Any, steps: tuple[str, ...]) -> Iterator[Resource]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from _resources(kind, steps)
        return
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *markers = get_args(kind)
        yield from (_resource(m, steps) for m in markers if isinstance(m, _Marker))
        yield from _inside(inner, steps)
    elif origin in (list, tuple, set, frozenset):
        for inner in get_args(kind):
            yield from _inside(inner, (*steps, "*"))
    elif origin is not dict:
        for inner in get_args(kind):
            yield from _inside(inner, steps)


def _resource(marker: _Marker, steps: tuple[str, ...]) -> Resource:
    return Resource(verb=marker.verb, steps=steps, tree=marker.tree, tree_field=marker.tree_field)
