"""Diagnostics as a SARIF log."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from policy.diagnostics import CODES, Fix, Label, diagnose, render
from policy.model import Source

SOURCE = Source(name="agents/a b.policy", text="policy for every agent\nallow 漢 file_raed\n")
SPAN = SOURCE.span(31, 40)

_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
_COUNT = {"type": "integer", "minimum": 1}
_REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "additionalProperties": False,
    "properties": dict.fromkeys(["startLine", "startColumn", "endLine", "endColumn"], _COUNT),
}
_ARTIFACT = {
    "type": "object",
    "required": ["uri"],
    "additionalProperties": False,
    "properties": {"uri": {"type": "string", "pattern": r"^[!-~]*$"}},
}
_LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "message": _TEXT,
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "additionalProperties": False,
            "properties": {"artifactLocation": _ARTIFACT, "region": _REGION},
        },
    },
}
_REPLACEMENT = {
    "type": "object",
    "required": ["deletedRegion"],
    "additionalProperties": False,
    "properties": {"deletedRegion": _REGION, "insertedContent": _TEXT},
}
_CHANGE = {
    "type": "object",
    "required": ["artifactLocation", "replacements"],
    "properties": {
        "artifactLocation": _ARTIFACT,
        "replacements": {"type": "array", "minItems": 1, "items": _REPLACEMENT},
    },
}
_RESULT = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": _TEXT,
        "locations": {"type": "array", "items": _LOCATION},
        "relatedLocations": {"type": "array", "items": _LOCATION, "uniqueItems": True},
        "fixes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["artifactChanges"],
                "properties": {"artifactChanges": {"type": "array", "items": _CHANGE}},
            },
        },
    },
}
_RULE = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "shortDescription": _TEXT,
        "help": _TEXT,
        "defaultConfiguration": {
            "type": "object",
            "properties": {"level": {"enum": ["none", "note", "warning", "error"]}},
        },
    },
}
_DRIVER = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "rules": {"type": "array", "items": _RULE, "uniqueItems": True},
    },
}
_RUN = {
    "type": "object",
    "required": ["tool"],
    "additionalProperties": False,
    "properties": {
        "tool": {"type": "object", "required": ["driver"], "properties": {"driver": _DRIVER}},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "results": {"type": "array", "items": _RESULT},
    },
}
# The part of SARIF 2.1.0 that we write, as its specification has it; nothing else may occur.
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": _RUN},
    },
}


def log() -> Any:
    problems = [
        diagnose(
            "unknown-tool",
            "no tool is called `file_raed`",
            span=SPAN,
            help="did you mean `file_read`?",
            labels=(Label(span=SOURCE.span(0, 6), text="in this file"),),
            fix=Fix(span=SPAN, replacement="file_read"),
        ),
        diagnose("byte-order-mark", "the file begins with a mark", file="global.policy"),
        diagnose("empty-policy", "no policy file"),
    ]
    return json.loads(render(problems, "sarif", root="rules/"))


def test_the_log_has_the_structure_of_sarif() -> None:
    jsonschema.validate(log(), SARIF)
    jsonschema.validate(json.loads(render([], "sarif")), SARIF)


def test_every_result_points_at_its_rule() -> None:
    (run,) = log()["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == 3
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["shortDescription"]["text"] == CODES[result["ruleId"]].title
        assert f"placet check --explain {rule['id']}" in rule["help"]["text"]


def test_columns_count_characters_and_ends_are_exclusive() -> None:
    (run,) = log()["runs"]
    (result,) = (r for r in run["results"] if r["ruleId"] == "unknown-tool")
    assert run["columnKind"] == "unicodeCodePoints"
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "rules/agents/a%20b.policy"},
                "region": {"startLine": 2, "startColumn": 9, "endLine": 2, "endColumn": 18},
            }
        }
    ]


def test_a_fix_says_what_to_put_in_place_of_what() -> None:
    (run,) = log()["runs"]
    (result,) = (r for r in run["results"] if r["ruleId"] == "unknown-tool")
    (change,) = result["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"] == {"text": "file_read"}
    assert replacement["deletedRegion"]["startColumn"] == 9


def test_a_mistake_of_a_whole_file_has_no_region_and_one_of_none_no_location() -> None:
    (run,) = log()["runs"]
    places = {r["ruleId"]: r["locations"] for r in run["results"]}
    assert places["byte-order-mark"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "rules/global.policy"}}}
    ]
    assert places["empty-policy"] == []
