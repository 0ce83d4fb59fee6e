"""Small inputs that a schema accepts, however much it demands."""

from __future__ import annotations

from typing import Any

import pytest

from policy.symbolic.situation import demands_too_much, least_input


@pytest.mark.parametrize(
    ("schema", "size", "too_much"),
    [
        ({"type": "array", "minItems": 3}, 3, False),
        ({"type": "string", "minLength": 7}, 7, False),
        ({"type": "array", "minItems": 30_000_000}, 0, True),
        ({"type": "string", "minLength": 1_000_000_000}, 9_999, True),
        (
            {"type": "array", "minItems": 60, "items": {"type": "array", "minItems": 60}},
            3_600,
            False,
        ),
        ({"type": "array", "minItems": 900, "items": {"type": "array", "minItems": 900}}, 0, True),
    ],
)
def test_no_more_is_built_than_ten_thousand_values(
    schema: dict[str, Any], size: int, too_much: bool
) -> None:
    whole = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert demands_too_much(whole) is too_much
    found = _size(least_input(whole))
    assert found <= 10_000
    assert found == size or not size


def _size(value: Any) -> int:
    """Return how many values and characters there are, of equal elements that of one of them."""
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, list):
        return len(value) * _size(value[0]) if value else 1
    return len(value) if isinstance(value, str) else 1
