"""Malformed calls of real models: refused, or repaired with a note."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from policy.admission import Admitted, RawCall, Refused, admit
from policy.catalog import Catalog, json_type_of, read_listing
from policy.model import thaw

_FILE = Path(__file__).parents[2] / "data" / "malformed_calls" / "calls.jsonl"
_TYPES = {"list": "array"}
ROWS = [json.loads(line) for line in _FILE.read_text().splitlines()]
GOOD = [row for row in ROWS if not row["problems"]]
BAD = [row for row in ROWS if row["problems"]]


@cache
def catalog() -> Catalog:
    inputs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in GOOD:
        inputs[row["tool"]].append(json.loads(row["raw_args"]))
    tools = [{"name": name, "parameters": schema_of(given)} for name, given in inputs.items()]
    return Catalog(specs=read_listing(tools).specs)


def schema_of(values: list[Any]) -> dict[str, Any]:
    kinds = {_TYPES.get(json_type_of(value), json_type_of(value)) for value in values}
    schema: dict[str, Any] = {"type": kinds.pop() if len(kinds) == 1 else sorted(kinds)}
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        names = dict.fromkeys(name for value in objects for name in value)
        schema["properties"] = {
            name: schema_of([value[name] for value in objects if name in value]) for name in names
        }
        schema["required"] = [name for name in names if all(name in value for value in objects)]
    elements = [item for value in values if isinstance(value, list) for item in value]
    if elements:
        schema["items"] = schema_of(elements)
    return schema


def test_the_corpus_is_whole() -> None:
    assert (len(GOOD), len(BAD)) == (200, 78)


@pytest.mark.parametrize("row", GOOD, ids=lambda row: row["tool"])
def test_a_good_call_is_left_as_it_is(row: dict[str, Any]) -> None:
    result = admit(RawCall(tool=row["tool"], input=row["raw_args"]), catalog())
    assert isinstance(result, Admitted), result
    assert thaw(result.call.input) == json.loads(row["raw_args"])
    assert result.repairs == ()


def outcome(row: dict[str, Any]) -> Admitted | Refused:
    return admit(RawCall(tool=row["tool"], input=row["raw_args"]), catalog())


def can_be_judged(row: dict[str, Any]) -> bool:
    """Whether what is wrong can be seen: without a good call of its tool there is no schema."""
    return "unknown_tool" in row["problems"] or catalog().get(row["tool"]) is not None


def test_what_became_of_the_bad_calls() -> None:
    judged = [row for row in BAD if can_be_judged(row)]
    ends = Counter(_end(outcome(row)) for row in judged)
    assert ends == {"mended": 7, "not-a-call": 23, "not-found": 17, "validation": 15}
    # No good call of their tools is in the corpus, so they are refused for the name alone.
    rest = [row for row in BAD if not can_be_judged(row)]
    assert {_end(outcome(row)) for row in rest} == {"not-found"}
    assert len(rest) == 16


def _end(result: Admitted | Refused) -> str:
    return "mended" if isinstance(result, Admitted) else result.kind


@pytest.mark.parametrize("row", BAD, ids=lambda row: "-".join(row["problems"]))
def test_a_bad_call_is_refused_or_mended_and_noted(row: dict[str, Any]) -> None:
    result = outcome(row)
    if isinstance(result, Admitted):
        assert result.repairs
        assert row["problems"] in (["wrong_type"], ["unknown_tool"])
        assert result.call.tool.lower() == row["tool"].lower().strip(",")
        assert jsonschema.Draft202012Validator(thaw(result.spec.schema)).is_valid(
            thaw(result.call.input)
        )
    else:
        assert result.message
        assert len(result.message) < 300
