"""A default counts only where it is filled in: not if the schema rejects it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.laws.engine import Unsound
from tests.unit.verify.proving import built_of, tool


def _codes(field: dict[str, Any], rule: str) -> list[str]:
    made = tool("t", {"mode": field})
    spec = replace(made, schema={**made.schema, "required": []})
    try:
        built_of(
            {"global.policy": ("policy for every agent", "default allow", rule)}, specs=(spec,)
        )
    except Unsound as refused:
        return [error.code for error in refused.errors]
    return []


@pytest.mark.parametrize(
    ("field", "codes"),
    [
        ({"enum": ["a", "b"], "default": "a"}, ["never-holds"]),
        ({"enum": ["a", "b"], "default": "c"}, []),
        ({"type": "integer", "maximum": 3, "default": 4}, []),
        ({"type": "integer", "maximum": 3, "default": 3}, ["never-holds"]),
    ],
)
def test_a_field_with_a_rejected_default_may_be_absent(
    field: dict[str, Any], codes: list[str]
) -> None:
    assert _codes(field, "deny t when input.mode is absent") == codes
