"""Reports why a JSON Schema from outside cannot be used.

A small schema can expand to a huge one through its references, and checking an input would take as
long. So its size is counted with every reference expanded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.catalog.schemas.walk import Schema, resolve

_DEEPEST = 64
_LARGEST = 50_000
_LONGEST_CHAIN = 200
_LARGEST_UNFOLDED = 200_000


def schema_problem(schema: Any) -> str | None:
    """Return why calls cannot be checked against this schema, as one sentence; None if they can."""
    if not isinstance(schema, Mapping):
        return "its schema is not an object"
    if schema.get("type", "object") != "object":
        return "its schema is not that of an object"
    problem = _problem_inside(schema)
    return None if problem is None else f"its schema {problem}"


def output_schema_problem(schema: Any) -> str | None:
    """Return why results cannot be read by this schema, as one sentence; None if they can.

    A result need not be an object.
    """
    if not isinstance(schema, Mapping):
        return "its output schema is not an object"
    problem = _problem_inside(schema)
    return None if problem is None else f"its output schema {problem}"


def unfolded_size(schema: Schema) -> tuple[int, bool]:
    """Return the size of a valid schema with references expanded, and if it contains itself.

    A reference to an enclosing schema counts as one.
    """
    walk = _Unfolding(schema)
    size = walk.size(schema, 0)
    return size, walk.is_cyclic


def _problem_inside(schema: Schema) -> str | None:
    problem = _problem_as_written(schema)
    if problem is None and unfolded_size(schema)[0] > _LARGEST_UNFOLDED:
        return "is too large with its references expanded"
    return problem


def _problem_as_written(schema: Schema) -> str | None:
    todo: list[tuple[Any, int]] = [(schema, 0)]
    count = 0
    while todo:
        value, depth = todo.pop()
        count += 1
        if depth > _DEEPEST:
            return "is nested too deeply"
        if count > _LARGEST:
            return "is too large"
        if isinstance(value, Mapping):
            if not all(isinstance(key, str) for key in value):
                return "has a key that is not a string"
            problem = _reference_problem(value, schema)
            if problem is not None:
                return problem
            todo.extend((item, depth + 1) for item in value.values())
        elif isinstance(value, (list, tuple)):
            todo.extend((item, depth + 1) for item in value)
    return None


def _reference_problem(value: Schema, root: Schema) -> str | None:
    # If an input's fields have these names, their values are objects, not strings.
    if any(isinstance(value.get(key), str) for key in ("$dynamicRef", "$recursiveRef")):
        return "has a reference that only the caller could resolve"
    if isinstance(value.get("$id"), str) and value is not root:
        return "contains another schema with an identifier"
    reference = value.get("$ref")
    if isinstance(reference, str) and resolve(reference, root) is None:
        return "has a reference without a target"
    return None


class _Unfolding:
    def __init__(self, root: Schema) -> None:
        self.root = root
        self.is_cyclic = False
        self._sizes: dict[int, int | None] = {}

    def size(self, value: Any, depth: int) -> int:
        if depth > _LONGEST_CHAIN:
            return _LARGEST_UNFOLDED + 1
        if not isinstance(value, (Mapping, list, tuple)):
            return 0
        if id(value) in self._sizes:
            known = self._sizes[id(value)]
            self.is_cyclic = self.is_cyclic or known is None
            return 1 if known is None else known
        self._sizes[id(value)] = None
        total = 1
        if isinstance(value, Mapping):
            total += self.size(resolve(value.get("$ref"), self.root), depth + 1)
            for key, item in value.items():
                if key not in ("$defs", "definitions"):
                    total += self.size(item, depth + 1)
        else:
            for item in value:
                total += self.size(item, depth + 1)
        self._sizes[id(value)] = total
        return total
