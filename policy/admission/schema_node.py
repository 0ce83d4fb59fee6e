"""One node of a tool's schema, prepared for walking many inputs through it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Any

from jsonschema_rs import validator_for

from policy.catalog import (
    ANY,
    OPEN,
    Schema,
    descend,
    is_closed,
    joined_parts,
    json_types_of,
    mapping,
    parts,
    requires,
)
from policy.model import thaw


class SchemaNode:
    """The schema at one position of an input; its answers are cached.

    A schema may refer to itself, so nodes below are created on first use.
    """

    def __init__(self, schema: Schema, root: Schema, *, top: bool = False) -> None:
        self.schema = schema
        self.root = root
        named = [name for part in parts(schema, root) for name in mapping(part.get("properties"))]
        self.names = tuple(dict.fromkeys(named))
        self._known = frozenset(named)
        self._patterns = _patterns(schema, root)
        says_rest = any("additionalProperties" in part for part in parts(schema, root))
        only_patterns = bool(self._patterns) and not says_rest
        self._free = not named and not only_patterns and not is_closed(schema, root, top=top)
        self._fields: dict[str, SchemaNode] = {}
        self._elements: dict[int, SchemaNode] = {}

    def field(self, name: str) -> SchemaNode | None:
        """Return the node of a field; None if the schema does not name it."""
        found = self._fields.get(name)
        if found is not None:
            return found
        if name not in self._known:
            below = self._by_pattern(name) if self._patterns else None
            return below or (self._rest if self._free else None)
        found = SchemaNode(descend(self.schema, name, self.root) or OPEN, self.root)
        self._fields[name] = found
        return found

    def names_each(self, names: Collection[str]) -> bool:
        """Return whether the schema names all of these fields."""
        if self._known.issuperset(names) or (self._free and not self._patterns):
            return True
        return all(self.field(name) is not None for name in names)

    def element(self, index: int) -> SchemaNode:
        """Return the node of an element of a list."""
        place = min(index, self._prefix)
        found = self._elements.get(place)
        if found is None:
            step = place if self._prefix else "*"
            found = SchemaNode(descend(self.schema, step, self.root) or OPEN, self.root)
            self._elements[place] = found
        return found

    def requires(self, name: str) -> bool:
        """Return whether the schema requires this field here."""
        return requires(self.schema, name, self.root)

    @cached_property
    def types(self) -> frozenset[str]:
        """The types of value that are accepted here."""
        return json_types_of(self.schema, self.root)

    @cached_property
    def defaults(self) -> tuple[tuple[str, Any], ...]:
        """The fields with a default; null counts as none."""
        found: list[tuple[str, Any]] = []
        for name in self.names:
            child = self.field(name)
            default = _default(child) if child is not None else None
            if default is not None:
                found.append((name, default))
        return tuple(found)

    @cached_property
    def _rest(self) -> SchemaNode:
        # A free map names no field, so any name gives the schema of all its values.
        return SchemaNode(descend(self.schema, "", self.root) or OPEN, self.root)

    @cached_property
    def _prefix(self) -> int:
        """How many elements of a list have schemas of their own."""
        given = (
            part.get("prefixItems", part.get("items")) for part in parts(self.schema, self.root)
        )
        return max((len(each) for each in given if isinstance(each, (list, tuple))), default=0)

    def _by_pattern(self, name: str) -> SchemaNode | None:
        matching = [schema for matches, schema in self._patterns if matches(name)]
        return SchemaNode({"allOf": matching}, self.root) if matching else None


def _patterns(schema: Schema, root: Schema) -> tuple[tuple[Callable[[Any], bool], Schema], ...]:
    return tuple(
        (validator_for({"pattern": pattern}, offline=True).is_valid, mapping(below))
        for part in parts(schema, root)
        for pattern, below in mapping(part.get("patternProperties")).items()
    )


def names_all(value: Any, node: SchemaNode) -> bool:
    """Return whether the schema names every field of an input: `unnamed_fields` yields nothing."""
    if isinstance(value, dict):
        if not node.names_each(value):
            return False
        for name, item in value.items():
            if isinstance(item, (dict, list)):
                below = node.field(name)
                if below is None or not names_all(item, below):
                    return False
        return True
    return all(
        names_all(item, node.element(index))
        for index, item in enumerate(value)
        if isinstance(item, (dict, list))
    )


def unnamed_fields(
    value: Any, node: SchemaNode, path: tuple[str | int, ...] = ()
) -> Iterator[Unnamed]:
    """Yield every field of an input that the schema does not name: its path, and its node."""
    if isinstance(value, dict):
        for name, item in value.items():
            below = node.field(name)
            if below is None:
                yield (*path, name), node
            elif isinstance(item, (dict, list)):
                yield from unnamed_fields(item, below, (*path, name))
    else:
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from unnamed_fields(item, node.element(index), (*path, index))


Unnamed = tuple[tuple[str | int, ...], SchemaNode]


def fill_defaults(value: Any, node: SchemaNode) -> Any:
    """Return the input with defaults for missing fields; the same object if nothing changes."""
    if isinstance(value, list):
        items = [
            fill_defaults(item, node.element(i)) if isinstance(item, (dict, list)) else item
            for i, item in enumerate(value)
        ]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else items
    filled = value
    for name, default in node.defaults:
        if name not in filled:
            filled = {**filled, name: thaw(default)}
    for name, item in filled.items():
        below = node.field(name) if isinstance(item, (dict, list)) else None
        if below is None:
            continue
        new = fill_defaults(item, below)
        if new is not item:
            filled = {**filled, name: new}
    return filled


def _default(node: SchemaNode) -> Any:
    todo = [node.schema]
    for _ in range(20):
        if not todo:
            break
        part = todo.pop()
        if part.get("default") is not None:
            return part["default"]
        todo.extend(joined_parts(part, node.root))
    return None


def is_only(node: SchemaNode, *types: str) -> bool:
    """Return whether only values of these types, and null, are accepted here."""
    wanted = node.types - {"null"}
    return bool(wanted) and wanted != ANY and wanted <= frozenset(types)
