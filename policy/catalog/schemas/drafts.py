"""`as_validated`: what a schema says in the few keywords that this package reads.

The drafts of JSON Schema differ in what a keyword means and whether it counts. A keyword that is
read here but ignored by the validator would make a schema look stricter than it is, and a claim
would be proved that a call breaks. So each draft lists the keywords that count, and anything else
is left out: what is left accepts whatever the validator accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from policy.catalog.schemas.walk import NEVER, OPEN, TYPE_NAMES, Schema, mapping, resolve

_SCHEMA = re.compile(
    r"https?://json-schema\.org/(?:draft-0([467])|draft/(2019-09|2020-12))/schema#?"
)
_LATEST = "2020-12"
# Drafts in which a `$ref` replaces the schema in which it stands.
_REF_ALONE = frozenset({"4", "6", "7"})
# Drafts in which `items` may be a list, and `additionalItems` describes the elements after it.
_LISTED_ITEMS = frozenset({"4", "6", "7", "2019-09"})

_EVER = frozenset(
    {"type", "enum", "required", "allOf", "anyOf", "oneOf"}
    | {"properties", "patternProperties", "additionalProperties", "items"}
    | {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
    # No answer about fields depends on these two, but whether a constant is accepted.
    | {"pattern", "multipleOf"}
)
_SINCE_6 = _EVER | {"const", "exclusiveMinimum", "exclusiveMaximum"}
_COUNTING: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "4": _EVER,
        "6": _SINCE_6,
        "7": _SINCE_6 | {"if"},
        "2019-09": _SINCE_6 | {"if"},
        "2020-12": _SINCE_6 | {"if", "prefixItems"},
    }
)
# Keywords whose value is kept as it is.
_PLAIN = (
    *("enum", "const", "required", "pattern", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems"),
)
# Calls of tools with deeper schemas are refused.
_DEEPEST = 70


def as_validated(schema: Schema) -> Schema:
    """Return a schema of draft 2020-12 that accepts at least what `schema` does in its own draft.

    Its references all lead to `$defs`.
    """
    return _Reading(schema).whole()


class _Reading:
    """Reads one schema; each part of it once, as schemas share parts and contain themselves."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        drafts = frozenset(_drafts_in(root))
        self._counting = frozenset.intersection(*(_COUNTING[draft] for draft in drafts))
        self._ref_is_alone = bool(drafts & _REF_ALONE)
        self._items_may_be_listed = drafts <= _LISTED_ITEMS
        self._are_prefix_items_ignored = _LATEST not in drafts
        # In a part with an identifier of its own, a reference leads elsewhere.
        self._follows = not any(_identifiers_in(root, ("$id", "id") if "4" in drafts else ("$id",)))
        self._done: dict[int, Schema] = {}
        self._names: dict[int, str] = {}
        self._todo: list[tuple[str, Any]] = []

    def whole(self) -> Schema:
        """Return what the whole schema says."""
        found = dict(self._schema(self._root, 0))
        named: dict[str, Schema] = {}
        while self._todo:
            name, target = self._todo.pop()
            named[name] = self._schema(target, 0)
        return {**found, "$defs": named} if named else found

    def _schema(self, part: Any, depth: int) -> Schema:
        if not isinstance(part, Mapping) or depth > _DEEPEST:
            return OPEN
        done = self._done.get(id(part))
        if done is None:
            done = self._done[id(part)] = self._read(part, depth)
        return done

    def _read(self, part: Schema, depth: int) -> Schema:
        found = {"default": part["default"]} if "default" in part else {}
        if isinstance(part.get("$ref"), str):
            target = resolve(part["$ref"], self._root) if self._follows else None
            if target is not None:
                found["$ref"] = self._reference(target)
            if self._ref_is_alone:
                return found
        counting = {key: value for key, value in part.items() if key in self._counting}
        found.update((key, counting[key]) for key in _PLAIN if key in counting)
        if _are_types(counting.get("type")):
            found["type"] = counting["type"]
        self._read_fields(counting, found, depth + 1)
        self._read_elements(part, counting, found, depth + 1)
        self._read_combined(part, counting, found, depth + 1)
        return found

    def _read_fields(self, counting: Schema, found: dict[str, Any], depth: int) -> None:
        for key in ("properties", "patternProperties"):
            if isinstance(counting.get(key), Mapping):
                below = counting[key].items()
                found[key] = {name: self._schema(each, depth) for name, each in below}
        if "additionalProperties" in counting:
            found["additionalProperties"] = self._rest(counting["additionalProperties"], depth)

    def _read_elements(
        self, part: Schema, counting: Schema, found: dict[str, Any], depth: int
    ) -> None:
        first, rest = part.get("prefixItems"), counting.get("items", True)
        if isinstance(rest, (list, tuple)):
            if not self._items_may_be_listed:
                return
            first, rest = rest, part.get("additionalItems", True)
        elif first is not None and "prefixItems" not in self._counting:
            if not self._are_prefix_items_ignored:
                return
            first = None
        if isinstance(first, (list, tuple)):
            found["prefixItems"] = tuple([self._schema(each, depth) for each in first])
        if "items" in counting:
            found["items"] = self._rest(rest, depth)

    def _read_combined(
        self, part: Schema, counting: Schema, found: dict[str, Any], depth: int
    ) -> None:
        all_of: list[Schema] = []
        for key in ("allOf", "anyOf", "oneOf"):
            if not isinstance(counting.get(key), (list, tuple)):
                continue
            branches = tuple([self._branch(each, depth) for each in counting[key]])
            # More of the branches than one may accept a value once conditions are left out.
            all_of.extend(branches if key == "allOf" else [{"anyOf": branches}])
        if "if" in counting and ("then" in part or "else" in part):
            sides = [self._branch(part.get(key, True), depth) for key in ("then", "else")]
            all_of.append({"anyOf": tuple(sides)})
        if len(all_of) == 1 and all_of[0].keys() == {"anyOf"}:
            found.update(all_of[0])
        elif all_of:
            found["allOf"] = tuple(all_of)

    def _branch(self, part: Any, depth: int) -> Schema:
        return NEVER if part is False else self._schema(part, depth)

    def _rest(self, part: Any, depth: int) -> Schema | bool:
        return part if isinstance(part, bool) else self._schema(part, depth)

    def _reference(self, target: Schema) -> str:
        name = self._names.get(id(target))
        if name is None:
            name = self._names[id(target)] = f"part{len(self._names) + 1}"
            self._todo.append((name, target))
        return f"#/$defs/{name}"


def _are_types(types: Any) -> bool:
    """Return whether the value of `type` is what every draft knows."""
    names = (types,) if isinstance(types, str) else types
    return isinstance(names, (list, tuple)) and all(
        isinstance(name, str) and name in TYPE_NAMES for name in names
    )


def _drafts_in(root: Schema) -> Iterator[str]:
    """Yield the drafts by which the parts of a schema may be read; all, if one is unknown."""
    if not isinstance(mapping(root).get("$schema"), str):
        yield _LATEST
    for part in _objects_in(root):
        said = part.get("$schema")
        if isinstance(said, str):
            known = _SCHEMA.fullmatch(said)
            yield from _COUNTING if known is None else (known[1] or known[2],)


def _identifiers_in(root: Schema, keys: tuple[str, ...]) -> Iterator[bool]:
    for part in _objects_in(root):
        yield part is not root and any(isinstance(part.get(key), str) for key in keys)


def _objects_in(root: Any) -> Iterator[Schema]:
    todo, seen = [root], set[int]()
    while todo:
        part = todo.pop()
        if not isinstance(part, (Mapping, list, tuple)) or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            yield part
            todo.extend(part.values())
        else:
            todo.extend(part)
