"""Walks through a JSON Schema: the sub-schema one step below, with references resolved.

Schemas are those of draft 2020-12; `as_validated` turns others into one. What is found below a
schema accepts every value that can stand there: where keywords leave something open, it is open.

References, `allOf`, `anyOf` and the like are followed within the schema. Schemas share parts and
refer to themselves, and may be hostile: every walk visits a part once, so that it takes linear
time, and a part that contains itself declares nothing the second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import reduce
from types import MappingProxyType
from typing import Any, TypeAlias
from urllib.parse import unquote

from policy.model import EMPTY, freeze

Schema: TypeAlias = Mapping[str, Any]
# A step into a value: a field, an element, or `*` for every element of a list.
Step: TypeAlias = str | int

JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "list", "object", "null"})
ANY = frozenset({"any"})
# The schema `true`, which accepts anything.
OPEN: Schema = EMPTY
# The schema `false`, which accepts nothing.
NEVER: Schema = MappingProxyType({"enum": ()})
# How deep a walk follows references and branches before it gives up.
DEEPEST_WALK = 60

TYPE_NAMES = {"array": "list"} | {kind: kind for kind in JSON_TYPES - {"list"}}


def json_type_of(value: Any) -> str:
    """Return the type of a JSON value."""
    if value is None:
        return "null"
    for types, name in (
        (bool, "boolean"),
        (str, "string"),
        (int, "integer"),
        ((float, Decimal), "number"),
        ((list, tuple), "list"),
    ):
        if isinstance(value, types):
            return name
    return "object"


# Keywords by which a schema includes others.
_JOINING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})


def is_simple(node: Schema) -> bool:
    """Return whether a schema includes no others: most do not, and need no walk."""
    return _JOINING.isdisjoint(node)


def descend(node: Schema, step: Step, root: Schema) -> Schema | None:
    """Return a schema of the value one step below `node`; None if nothing names it.

    The result joins the declarations of every branch; references to `root` are not expanded.
    """
    if is_simple(node):
        return _own_step(node, step)
    return _descend(node, step, root, {}, 0)


def parts(node: Schema, root: Schema) -> Iterator[Schema]:
    """Yield the schema at `node` and all that it includes: references, `allOf`, `anyOf`, …."""
    if is_simple(node):
        yield node
        return
    todo, seen = [node], {id(node)}
    while todo:
        part = todo.pop()
        yield part
        below = [*joined_parts(part, root), *(b for group in alternatives(part) for b in group)]
        for item in reversed(below):
            if id(item) not in seen:
                seen.add(id(item))
                todo.append(item)


def resolve(reference: Any, root: Schema) -> Schema | None:
    """Return the target of a reference inside `root` (`#/$defs/…`); None if there is none."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    try:
        pointer = unquote(reference[1:], errors="strict")
    except UnicodeDecodeError:
        return None
    if pointer and not pointer.startswith("/"):
        return None
    target: Any = root
    for name in pointer.split("/")[1:]:
        key = _unescape(name)
        if isinstance(target, Mapping) and key in target:
            target = target[key]
        elif isinstance(target, (list, tuple)) and _is_index(key, target):
            target = target[int(key)]
        else:
            return None
    if isinstance(target, bool):
        return OPEN if target else NEVER
    return target if isinstance(target, Mapping) else None


def json_types_of(node: Schema, root: Schema) -> frozenset[str]:
    """Return the types of values that `node` accepts; `ANY` if it does not restrict them."""
    if is_simple(node):
        return _own_types(node)
    return _types(node, root, {}, 0)


def _descend(
    node: Schema, step: Step, root: Schema, memo: dict[int, Schema | None], depth: int
) -> Schema | None:
    if id(node) in memo or depth > DEEPEST_WALK:
        return memo.get(id(node))
    memo[id(node)] = None
    found: list[Schema] = []
    own = _own_step(node, step)
    if own is not None:
        found.append(own)
    for joined in joined_parts(node, root):
        below = _descend(joined, step, root, memo, depth + 1)
        if below is not None:
            found.append(below)
    for branches in alternatives(node):
        belows = [_descend(branch, step, root, memo, depth + 1) for branch in branches]
        if all(below is None for below in belows):
            continue
        # A branch that does not name the field leaves it open, unless it does not allow it at all.
        each = [
            OPEN if below is None else below
            for branch, below in zip(branches, belows, strict=True)
            if below is not None or not _excludes(branch, step, root)
        ]
        found.append(each[0] if len(each) == 1 else {"anyOf": each})
    if found:
        memo[id(node)] = found[0] if len(found) == 1 else {"allOf": found}
    return memo[id(node)]


def _excludes(branch: Schema, step: Step, root: Schema) -> bool:
    """Return whether no value of a branch has anything at a step that it does not name."""
    types = json_types_of(branch, root)
    if isinstance(step, int) or step == "*":
        return types.isdisjoint({"any", "list", "object"} if step == "*" else {"any", "list"})
    if types.isdisjoint({"any", "object"}):
        return True
    is_closed = branch.get("additionalProperties") is False
    named = mapping(branch.get("properties"))
    return is_closed and step not in named and not branch.get("patternProperties")


def _own_step(node: Schema, step: Step) -> Schema | None:
    if isinstance(step, int) or step == "*":
        element = _element(node, step)
        if element is not None or isinstance(step, int) or _own_types(node) & {"any", "list"}:
            return element
    properties = mapping(node.get("properties"))
    if step in properties:
        return _schema(properties[step])
    rest = node.get("additionalProperties")
    # Where some names have schemas of their own, this one may be among them.
    if properties or node.get("patternProperties") or not isinstance(rest, Mapping):
        return None
    return _schema(rest)


def _element(node: Schema, step: Step) -> Schema | None:
    prefix = node.get("prefixItems")
    items = node.get("items", True)
    prefix = prefix if isinstance(prefix, (list, tuple)) else ()
    if isinstance(step, int):
        if 0 <= step < len(prefix):
            return _schema(prefix[step])
        if step >= 0:
            return items if isinstance(items, Mapping) else None
    if not prefix:
        return items if isinstance(items, Mapping) else None
    branches = [_schema(item) for item in prefix]
    if items is not False:
        branches.append(_schema(items))
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def joined_parts(node: Schema, root: Schema) -> Iterator[Schema]:
    """Yield the sub-schemas that must all accept a value."""
    target = resolve(node.get("$ref"), root)
    if target is not None:
        yield target
    yield from _schemas(node.get("allOf"))


def alternatives(node: Schema) -> Iterator[list[Schema]]:
    """Yield each list of sub-schemas of which at least one must accept a value."""
    for key in ("anyOf", "oneOf"):
        branches = list(_schemas(node.get(key)))
        if branches:
            yield branches


def _types(
    node: Schema, root: Schema, memo: dict[int, frozenset[str]], depth: int
) -> frozenset[str]:
    if id(node) in memo or depth > DEEPEST_WALK:
        return memo.get(id(node), ANY)
    memo[id(node)] = ANY
    found = [_own_types(node)]
    found.extend(_types(part, root, memo, depth + 1) for part in joined_parts(node, root))
    for branches in alternatives(node):
        each = [_types(branch, root, memo, depth + 1) for branch in branches]
        found.append(ANY if ANY in each else frozenset().union(*each))
    memo[id(node)] = reduce(_both, found)
    return memo[id(node)]


def _both(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    if left == ANY or right == ANY:
        return right if left == ANY else left
    both = left & right
    if ("integer" in left and "number" in right) or ("number" in left and "integer" in right):
        both |= {"integer"}
    return both


def _own_types(node: Schema) -> frozenset[str]:
    if "const" in node:
        return frozenset({json_type_of(node["const"])})
    if isinstance(node.get("enum"), (list, tuple)):
        return frozenset(json_type_of(value) for value in node["enum"])
    types = node.get("type")
    names = (types,) if isinstance(types, str) else types
    if not isinstance(names, (list, tuple)):
        return ANY
    known = [TYPE_NAMES.get(name) for name in names if isinstance(name, str)]
    return ANY if None in known else frozenset(name for name in known if name is not None)


def _schema(value: Any) -> Schema:
    """Return a sub-schema as an object: `true` and invalid values accept anything."""
    return value if isinstance(value, Mapping) else OPEN


def _schemas(value: Any) -> Iterator[Schema]:
    if isinstance(value, (list, tuple)):
        yield from (NEVER if item is False else _schema(item) for item in value)


def read_only_schema(schema: Schema) -> Schema:
    """Return the schema with everything in it read-only."""
    return mapping(freeze(schema))


def mapping(value: Any) -> Mapping[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else EMPTY


def _unescape(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def _is_index(key: str, target: list[Any] | tuple[Any, ...]) -> bool:
    return key.isascii() and key.isdecimal() and len(key) < 6 and int(key) < len(target)
