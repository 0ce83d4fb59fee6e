"""Walks through a JSON Schema: the sub-schema one step below, with references resolved.

References, `allOf`, `anyOf` and the like are followed within the schema. Schemas share parts and
refer to themselves, and may be hostile: every walk visits a part once, so that it takes linear
time, and a part that contains itself declares nothing the second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import reduce
from typing import Any, TypeAlias

from policy.model import EMPTY, freeze

Schema: TypeAlias = Mapping[str, Any]
# A step into a value: a field, an element, or `*` for every element of a list.
Step: TypeAlias = str | int

JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "list", "object", "null"})
ANY = frozenset({"any"})
# The schema `true`, which accepts anything.
OPEN: Schema = EMPTY
# How deep a walk follows references and branches before it gives up.
DEEPEST_WALK = 60

_TYPE_NAMES = {"array": "list"} | {kind: kind for kind in JSON_TYPES - {"list"}}


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
_JOINING = frozenset({"$ref", "allOf", "anyOf", "oneOf", "then", "else"})


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
    target: Any = root
    for name in reference[1:].split("/")[1:]:
        key = _unescape(name)
        if isinstance(target, Mapping) and key in target:
            target = target[key]
        elif (
            isinstance(target, (list, tuple)) and key.isascii() and key.isdecimal() and len(key) < 6
        ):
            target = target[int(key)] if int(key) < len(target) else None
        else:
            return None
    if reference != "#" and not reference.startswith("#/"):
        return None
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
        named = [below for below in belows if below is not None]
        if not named:
            continue
        # A branch that does not name the field and is not closed leaves it open.
        silent = [b for b, below in zip(branches, belows, strict=True) if below is None]
        more = [OPEN] if any(_leaves_open(branch, root) for branch in silent) else []
        branches_below = [*named, *more]
        found.append(named[0] if len(branches_below) == 1 else {"anyOf": branches_below})
    if found:
        memo[id(node)] = found[0] if len(found) == 1 else {"allOf": found}
    return memo[id(node)]


def _leaves_open(branch: Schema, root: Schema) -> bool:
    types = json_types_of(branch, root)
    return branch.get("additionalProperties") is not False and bool(types & {"any", "object"})


def _own_step(node: Schema, step: Step) -> Schema | None:
    if isinstance(step, int) or step == "*":
        element = _element(node, step)
        if element is not None or isinstance(step, int):
            return element
    properties = mapping(node.get("properties"))
    if step in properties:
        return _schema(properties[step])
    if properties:
        return None
    rest = node.get("additionalProperties")
    return _schema(rest) if isinstance(rest, Mapping) else None


def _element(node: Schema, step: Step) -> Schema | None:
    prefix = node.get("prefixItems")
    items = node.get("items")
    if isinstance(items, (list, tuple)):
        # Drafts before 2020 spell `prefixItems` so, and the rest `additionalItems`.
        prefix, items = items, node.get("additionalItems")
    prefix = prefix if isinstance(prefix, (list, tuple)) else ()
    if isinstance(step, int) and 0 <= step < len(prefix):
        return _schema(prefix[step])
    rest = _schema(items) if isinstance(items, Mapping) else None
    if isinstance(step, int) and step >= len(prefix):
        return rest
    branches = [_schema(item) for item in prefix] + ([] if rest is None else [rest])
    if not branches:
        return None
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
    conditional = [node[key] for key in ("then", "else") if isinstance(node.get(key), Mapping)]
    if conditional:
        # If one of the two is missing, anything is accepted on that side.
        yield conditional if len(conditional) == 2 else [*conditional, OPEN]


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
    return frozenset(_TYPE_NAMES[n] for n in names if isinstance(n, str) and n in _TYPE_NAMES)


def _schema(value: Any) -> Schema:
    """Return a sub-schema as an object: `true` and invalid values accept anything."""
    return value if isinstance(value, Mapping) else OPEN


def _schemas(value: Any) -> Iterator[Schema]:
    if isinstance(value, (list, tuple)):
        yield from (item for item in value if isinstance(item, Mapping))


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
