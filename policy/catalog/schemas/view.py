"""Answers about the fields of a schema, each worked out once.

Policies look up the same fields of one schema repeatedly, and many tools have equal schemas. A view
returns the same as `lookup` and `named_fields`, and caches it. Schemas are read-only, so an answer
stays true.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from policy.catalog.schemas.drafts import as_validated
from policy.catalog.schemas.fields import FieldInfo, lookup, named_fields
from policy.catalog.schemas.filled_defaults import are_defaults_filled
from policy.catalog.schemas.walk import Schema, Step, descend

# How many paths a view caches before it clears the cache: more than policies look up.
_MOST_PATHS = 1_024
# Deeper schemas are not compared with others.
_DEEPEST_SHAPE = 40

_WITH_FIELDS = frozenset({"object", "null"})
_SCALARS = frozenset({int, float, bool, type(None), Decimal})

Path = tuple[Step, ...]


@dataclass(slots=True, eq=False)
class SchemaView:
    """One schema as validators read it, with a cache of the answers."""

    schema: Schema
    _given: Schema = field(init=False, repr=False)
    _infos: dict[Path, FieldInfo] = field(default_factory=dict, init=False, repr=False)
    _names: dict[Path, tuple[str, ...] | None] = field(default_factory=dict, init=False, repr=False)
    _nodes: dict[Path, Schema | None] = field(default_factory=dict, init=False, repr=False)

    _fills_defaults: bool | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._given = self.schema
        self.schema = as_validated(self.schema)

    def is_always_there(self, path: Path) -> bool:
        """Return whether every input that the schema accepts has a field, by itself or a default.

        A default counts for a field of the input alone, and only if defaults are surely filled in.
        """
        info = self.lookup(path)
        if not info.known or info.types & {"any", "null"}:
            return False
        if info.required or len(path) != 1:
            return info.required
        node = self.node(path)
        if node is None or node.get("default") is None:
            return False
        if self._fills_defaults is None:
            self._fills_defaults = are_defaults_filled(self._given)
        return self._fills_defaults

    def lookup(self, path: Path) -> FieldInfo:
        """Return what the schema declares of the value at `path`, `()` being the whole input."""
        found = self._infos.get(path)
        if found is None:
            found = lookup(self.schema, path)
            _keep(self._infos, path, found)
        return found

    def certain(self, path: Path) -> FieldInfo:
        """Return what the schema declares of the value that a condition reads at `path`.

        That is nothing where a list or another value without fields may be on the way.
        """
        above = (self.lookup(path[:count]) for count in range(1, len(path)))
        only_objects = all(each.known and each.types <= _WITH_FIELDS for each in above)
        return self.lookup(path) if only_objects else FieldInfo()

    def named_fields(self, path: Path) -> tuple[str, ...] | None:
        """Return the names of the fields of the object at `path`; None if any name is accepted."""
        if path in self._names:
            return self._names[path]
        found = named_fields(self.schema, path)
        _keep(self._names, path, found)
        return found

    def node(self, path: Path) -> Schema | None:
        """Return the explicit schema of the value at `path`, None if there is none."""
        if path in self._nodes:
            return self._nodes[path]
        found: Schema | None = self.schema
        for step in path:
            found = None if found is None else descend(found, step, self.schema)
        _keep(self._nodes, path, found)
        return found


@dataclass(slots=True, eq=False)
class SchemaViews:
    """The views of schemas; equal schemas share one."""

    # By identity; the schemas are kept as well, so that no other object gets their identity.
    _of: dict[int, tuple[Schema, SchemaView]] = field(default_factory=dict)
    _by_shape: dict[bytes, SchemaView] = field(default_factory=dict)

    def of(self, schema: Schema) -> SchemaView:
        """Return the view of a schema."""
        kept = self._of.get(id(schema))
        if kept is None:
            kept = self._of[id(schema)] = (schema, self._shared(schema))
        return kept[1]

    def _shared(self, schema: Schema) -> SchemaView:
        try:
            shape = repr(_shape(schema, 0))
        except _NoShape:
            return SchemaView(schema)
        digest = hashlib.blake2b(shape.encode(errors="surrogatepass")).digest()
        return self._by_shape.setdefault(digest, SchemaView(schema))


class _NoShape(Exception):
    """A schema that contains something besides JSON, or is too deep to be compared."""


def _shape(value: Any, depth: int) -> Any:
    """Return a value whose `repr` is the same for two schemas only if they are equal."""
    kind = type(value)
    if kind is str:
        return value
    if kind in _SCALARS:
        return (repr(value),)
    if depth > _DEEPEST_SHAPE:
        raise _NoShape
    if kind is MappingProxyType or kind is dict:
        return {_shape(key, depth): _shape(item, depth + 1) for key, item in value.items()}
    if kind is tuple or kind is list:
        return [_shape(item, depth + 1) for item in value]
    raise _NoShape


def _keep(kept: dict[Path, Any], path: Path, found: Any) -> None:
    if len(kept) >= _MOST_PATHS:
        kept.clear()
    kept[path] = found
