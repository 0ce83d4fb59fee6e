"""Tools with several operations: argument models distinguished by `operation` or `type`.

Models see one flat object schema with the fields of all operations. A call is read by the model of
its own operation, so that a field of another one is refused, and only the resources of its own
operation count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import cleandoc
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from policy.catalog.arguments import ModelArguments, schema_of
from policy.catalog.markers import resources_of
from policy.catalog.model_input import model_as_json, read_arguments
from policy.catalog.schemas.flat_union import (
    TAGS,
    ConflictingFields,
    flat_object,
    have_distinct_tags,
    tag_values,
)
from policy.catalog.tool import Resource
from policy.diagnostics import nearest
from policy.values import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The operations of one tool: `models` by the value of `tag`, and one flat `schema` of all.

    `branches` are the schemas that it joins.
    """

    tag: str
    models: Mapping[str, type[BaseModel]]
    schema: Mapping[str, Any]
    branches: tuple[Mapping[str, Any], ...]

    def read(self, given: Mapping[str, Any]) -> BaseModel:
        """Return the input as an object of its operation's model; ValueError if it is refused.

        Null for a field of another operation is ignored.
        """
        value = given.get(self.tag)
        model = self.models.get(value) if isinstance(value, str) else None
        if model is None or not isinstance(value, str):
            raise ValueError(f"`{self.tag}` must be one of {_listed(self.models)}")
        names = _fields(model)
        foreign = [name for name, said in given.items() if name not in names and said is not None]
        takes = _listed(name for name in names if name != self.tag) or "nothing else"
        if foreign:
            near = nearest(foreign[0], names)
            hint = f"; did you mean `{near}`?" if near else ""
            raise ValueError(
                f"{_listed(foreign[:5])} is not a field of {self.tag} {quote(value)}, "
                f"which takes {takes}{hint}"
            )
        missing = [n for n, required in names.items() if required and n not in given]
        if missing:
            raise ValueError(
                f"{self.tag} {quote(value)} needs {_listed(missing)}; it takes {takes}"
            )
        return read_arguments(model, {n: said for n, said in given.items() if n in names})

    def coerce(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the input as parsed by the operation's model, as JSON."""
        return model_as_json(self.read(given), given, schema=lambda: self.schema)

    def resources(self) -> Iterator[Resource]:
        """Yield the resources of each operation, each only for those that have it."""
        found: dict[Resource, list[str]] = {}
        for value, model in self.models.items():
            for resource in resources_of(model):
                found.setdefault(resource, []).append(value)
        for resource, values in found.items():
            everywhere = len(values) == len(self.models)
            only_for = None if everywhere else (self.tag, tuple(values))
            yield replace(resource, only_for=only_for)


def arguments_of(kind: Any) -> ModelArguments | Operations:
    """Return the arguments of a tool from a model or a union of models; else TypeError."""
    if isinstance(kind, type) and issubclass(kind, RootModel):
        raise TypeError(f"`{kind.__name__}` wraps a type: use that type itself")
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return ModelArguments(kind)
    if models_of(kind):
        return operations_of(kind)
    raise TypeError("the arguments of a tool must be a pydantic model, or a union of such models")


def models_of(kind: Any) -> tuple[type[BaseModel], ...]:
    """Return the models of a union type; none if it is something else."""
    if get_origin(kind) is Annotated:
        return models_of(get_args(kind)[0])
    if get_origin(kind) not in (Union, UnionType):
        return ()
    parts = get_args(kind)
    each = [models_of(part) or (part,) for part in parts]
    flat = tuple(model for models in each for model in models)
    return flat if all(isinstance(m, type) and issubclass(m, BaseModel) for m in flat) else ()


def operations_of(kind: Any) -> Operations:
    """Return the operations of a union of models; TypeError says what to change."""
    models = models_of(kind)
    if len(models) < 2:
        raise TypeError("operations must be a union of two or more pydantic models")
    tag = _discriminator(kind) or _shared_tag(models)
    values = [_values(model, tag) for model in models]
    for model, own in zip(models, values, strict=True):
        if not own:
            raise TypeError(f'`{model.__name__}` needs a field `{tag}: Literal["…"]`')
    if not have_distinct_tags(values):
        raise TypeError(f"two operations have the same `{tag}`")
    branches = [_branch(model) for model in models]
    try:
        schema = flat_object(branches, tag)
    except ConflictingFields as error:
        raise TypeError(
            f"operations share the field `{error.field}`, but as unlike objects or lists: "
            "give the fields names of their own"
        ) from None
    return Operations(
        tag=tag,
        models={v: model for model, own in zip(models, values, strict=True) for v in own},
        schema=schema,
        branches=tuple(branches),
    )


def _branch(model: type[BaseModel]) -> dict[str, Any]:
    doc = model.__doc__ or ""
    # A model without a docstring inherits that of its base class, which is irrelevant.
    own = cleandoc(doc).partition("\n\n")[0] if "__doc__" in vars(model) else ""
    return {**schema_of(model), "description": " ".join(own.split())}


def _discriminator(kind: Any) -> str | None:
    if get_origin(kind) is not Annotated:
        return None
    said = [m.discriminator for m in get_args(kind)[1:] if isinstance(m, FieldInfo)]
    return next((name for name in said if isinstance(name, str)), None)


def _shared_tag(models: Sequence[type[BaseModel]]) -> str:
    for tag in TAGS:
        if all(_values(model, tag) for model in models):
            return tag
    lacking = next(m for m in models if not any(_values(m, tag) for tag in TAGS) or m is models[-1])
    raise TypeError(
        f'`{lacking.__name__}` needs a field `operation: Literal["…"]` (or `type`, in all of them)'
    )


def _values(model: type[BaseModel], tag: str) -> tuple[str, ...]:
    info = model.model_fields.get(tag)
    if info is None or get_origin(info.annotation) is not Literal:
        return ()
    return tag_values({"enum": get_args(info.annotation)})


def _fields(model: type[BaseModel]) -> dict[str, bool]:
    return {info.alias or name: info.is_required() for name, info in model.model_fields.items()}


def _listed(names: Any) -> str:
    return ", ".join(quote(name) for name in names)
