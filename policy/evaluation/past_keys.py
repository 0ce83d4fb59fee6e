"""The comparison of a test that tells most earlier calls apart: `c.input.id == input.id`."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from policy.checks import checked


@dataclass(frozen=True, slots=True)
class Key:
    """A field of each element, by its steps, and the value that it must equal."""

    steps: tuple[str, ...]
    value: checked.Value


def key_of_test(test: checked.Test, slot: int) -> Key | None:
    """Return a comparison without which the test is false for the element in `slot`."""
    match test:
        case checked.AllOf(tests=tests):
            return next((key for part in tests if (key := key_of_test(part, slot))), None)
        case checked.Comparison(op="==", left=left, right=right):
            return _key(left, right, slot) or _key(right, left, slot)
        case _:
            return None


def _key(field: checked.Value, value: checked.Value, slot: int) -> Key | None:
    steps: list[str] = []
    while isinstance(field, checked.FieldOf):
        steps.append(field.name)
        field = field.base
    if not steps or field != checked.Variable(slot=slot) or _reads_variable(value):
        return None
    return None if steps[-1] == "age" else Key(tuple(reversed(steps)), value)


def _reads_variable(node: Any) -> bool:
    match node:
        case checked.Variable():
            return True
        case tuple():
            return any(_reads_variable(part) for part in node)
        case _ if is_dataclass(node):
            return any(_reads_variable(getattr(node, one.name)) for one in fields(node))
        case _:
            return False
