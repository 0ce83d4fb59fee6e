"""What tools declare of their results: the types that conditions on results are checked with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from policy.catalog import SchemaView, SchemaViews, Step, ToolSpec
from policy.checks.checked import DeclaredOutput
from policy.checks.conditions.value_types import (
    ANY,
    OBJECT,
    ValueType,
    list_of,
    type_of_field,
    union_type,
)

# How deep a type describes a result, and how many fields it has; what is beyond may be anything.
_DEEPEST = 8
_MOST_FIELDS = 2_000


def declared_outputs(specs: Iterable[ToolSpec], views: SchemaViews) -> tuple[DeclaredOutput, ...]:
    """Return what those of the tools that declare their results return."""
    return tuple(
        DeclaredOutput(
            tool=spec.name,
            origin=spec.origin,
            digest=hashlib.sha256(repr(spec.output).encode(errors="surrogatepass")).hexdigest(),
            schema=views.of(spec.output),
        )
        for spec in specs
        if spec.output
    )


def output_type(specs: tuple[ToolSpec, ...], views: SchemaViews) -> ValueType:
    """Return the type of the results of some of these tools; any unless all of them declare it."""
    if not specs or not all(spec.output for spec in specs):
        return ANY
    return _merged([(spec.name, _type_of_schema(views.of(spec.output))) for spec in specs])


@lru_cache(maxsize=1_024)
def _type_of_schema(schema: SchemaView) -> ValueType:
    return _TypeReader(schema).type_at(())


class _TypeReader:
    """Reads a schema as a type."""

    def __init__(self, schema: SchemaView) -> None:
        self._schema = schema
        self._fields = 0

    def type_at(self, path: tuple[Step, ...]) -> ValueType:
        """Return the type of the value at a path."""
        found = type_of_field(self._schema.lookup(path))
        if len(path) >= _DEEPEST:
            return found
        if found.must_be("list"):
            return list_of(self.type_at((*path, "*")))
        return self._object_at(path) if found.must_be("object") else found

    def _object_at(self, path: tuple[Step, ...]) -> ValueType:
        names = self._schema.named_fields(path)
        node = self._schema.node(path) or {}
        is_open = node.get("additionalProperties", False) is not False or bool(
            node.get("patternProperties")
        )
        self._fields += len(names or ())
        if not names or is_open or self._fields > _MOST_FIELDS:
            return OBJECT
        fields = tuple((name, self.type_at((*path, name))) for name in names)
        return replace(OBJECT, fields=fields)


def _merged(types: list[tuple[str, ValueType]]) -> ValueType:
    """Return the type of values that have one of these types, each with the tool that returns it.

    Of objects, a field has the types that it has in some of them.
    """
    kinds = [kind for _, kind in types]
    if all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    if all(kind.must_be("list") for kind in kinds):
        return list_of(_merged([(tool, kind.element) for tool, kind in types]))
    if any(kind.fields is None for kind in kinds):
        return union_type(kinds) or ANY
    names = dict.fromkeys(name for kind in kinds for name, _ in kind.fields or ())
    fields: list[tuple[str, ValueType]] = []
    lacking: list[tuple[str, tuple[str, ...]]] = []
    for name in names:
        having = [(tool, dict(kind.fields or ())) for tool, kind in types]
        fields.append((name, _merged([(t, held[name]) for t, held in having if name in held])))
        without = tuple(tool for tool, held in having if name not in held)
        if without:
            lacking.append((name, without))
    return replace(OBJECT, fields=tuple(fields), lacking=tuple(lacking))
