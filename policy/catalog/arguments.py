"""A tool's argument model (a pydantic class) in; its definition for policies out.

The class name is the tool's name, its docstring the description, and markers on its fields say
which arguments are resources:

    class FileRead(Arguments):
        path: Annotated[str, Reads(), Field(description="The file to read.")]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import cleandoc
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict

from policy.catalog.names import snake_case
from policy.catalog.plain import schema_strictify
from policy.catalog.reading import as_input, read_arguments
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
    """The arguments of a tool as one model says them."""

    model: type[BaseModel]

    @property
    def schema(self) -> Mapping[str, Any]:
        """The plain schema of what the model takes."""
        return schema_of(self.model)

    def read(self, given: Mapping[str, Any]) -> BaseModel:
        """Return the input as an object of the model; ValueError says where it refuses."""
        return read_arguments(self.model, given)

    def coerce(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return what the model makes of an input, as JSON."""
        return as_input(self.read(given))

    def resources(self) -> Iterator[Resource]:
        """Yield the resources that the markers on the model's fields tell of."""
        return resources_of(self.model)


def coercion_of(model: type[BaseModel]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what the model makes of an input, as JSON; ValueError says where it refuses."""
    return ModelArguments(model).coerce


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the plain schema of what a model takes."""
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


def resources_of(model: type[BaseModel]) -> Iterator[Resource]:
    """Yield the resources that the markers on a model's fields tell of.

    Raises TypeError for resources in a model that holds itself: there is no end of them.
    """
    yield from _of_model(model, (), ())


def _of_model(
    model: type[BaseModel], steps: tuple[str, ...], around: tuple[type, ...]
) -> Iterator[Resource]:
    if model in around:
        marked = (m for kind in around[around.index(model) :] for m in _markers(kind))
        if any(marked):
            raise TypeError(f"`{model.__name__}` holds itself, so it can have no resources")
        return
    for name, info in model.model_fields.items():
        here = (*steps, info.alias or name)
        for marker in info.metadata:
            if isinstance(marker, _Marker):
                yield _resource(marker, here)
        yield from _inside(info.annotation, here, (*around, model))


def _markers(model: type) -> Iterator[_Marker]:
    """Yield the markers on a model's own fields, and in the types of these."""
    if not issubclass(model, BaseModel):
        return
    todo: list[Any] = []
    for info in model.model_fields.values():
        todo += [*info.metadata, info.annotation]
    while todo:
        kind = todo.pop()
        if isinstance(kind, _Marker):
            yield kind
        todo.extend(get_args(kind))


def _inside(kind: Any, steps: tuple[str, ...], around: tuple[type, ...]) -> Iterator[Resource]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from _of_model(kind, steps, around)
        return
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *markers = get_args(kind)
        yield from (_resource(m, steps) for m in markers if isinstance(m, _Marker))
        yield from _inside(inner, steps, around)
    elif origin in (list, tuple, set, frozenset):
        for inner in get_args(kind):
            yield from _inside(inner, (*steps, "*"), around)
    elif origin is not dict:
        for inner in get_args(kind):
            yield from _inside(inner, steps, around)


def _resource(marker: _Marker, steps: tuple[str, ...]) -> Resource:
    return Resource(verb=marker.verb, steps=steps, tree=marker.tree, tree_field=marker.tree_field)
