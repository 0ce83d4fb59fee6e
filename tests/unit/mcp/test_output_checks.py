"""Output schemas of servers that nobody trusts: what they cannot make the gateway do."""

from __future__ import annotations

from typing import Any

import pytest

from policy.mcp.output_checks import OutputChecks
from policy.tools import OutputInvalid

# Fetch, search without end, multiply.
HOSTILE_SCHEMAS: dict[str, dict[str, Any]] = {
    "fetches": {"$ref": "http://127.0.0.1:9/schema"},
    "looks around": {"properties": {"s": {"pattern": "(?=a)a"}}},
    "multiplies": {
        "$defs": {"t": {"anyOf": [{"properties": {"x": {"$ref": "#/$defs/t"}}}] * 2}},
        "$ref": "#/$defs/t",
    },
    "no schema": {"required": ["n", 7]},
}


@pytest.mark.parametrize("what", HOSTILE_SCHEMAS)
async def test_a_schema_that_cannot_be_checked_counts_as_not_satisfied(what: str) -> None:
    definition = {"name": "t", "outputSchema": {"type": "object", **HOSTILE_SCHEMAS[what]}}
    result = {"structuredContent": {"s": "a"}}
    OutputChecks("f", "off").require_valid("t", definition, result)
    checks = OutputChecks("f", "warn")
    checks.require_valid("t", definition, result)
    assert "a result of tool `t` is not what it declares" in checks.problems["t"]
    with pytest.raises(OutputInvalid):
        OutputChecks("f", "strict").require_valid("t", definition, result)
