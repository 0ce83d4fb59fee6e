"""Diagnostics as one JSON object."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from policy.diagnostics import diagnose, render
from policy.model import Source

SOURCE = Source(name="global.policy", text="policy for every agent\nallow file_raed\n")


def test_a_program_finds_code_message_and_place() -> None:
    problem = diagnose(
        "unknown-tool",
        "no tool is called `file_raed`",
        span=SOURCE.span(29, 38),
        help="did you mean `file_read`?",
    )
    assert json.loads(render([problem], "json")) == {
        "diagnostics": [
            {
                "code": "unknown-tool",
                "severity": "error",
                "message": "no tool is called `file_raed`",
                "file": "global.policy",
                "line": 2,
                "column": 7,
                "end_line": 2,
                "end_column": 16,
                "help": "did you mean `file_read`?",
                "page": "docs/checks/unknown-tool.md",
            }
        ]
    }


def test_what_has_no_place_has_null_for_it() -> None:
    (entry,) = json.loads(render([diagnose("empty-policy", "none", file="rules")], "json"))[
        "diagnostics"
    ]
    assert (entry["file"], entry["line"], entry["column"]) == ("rules", None, None)
    assert entry["help"] is None


def test_no_problem_is_an_empty_list() -> None:
    assert json.loads(render([], "json")) == {"diagnostics": []}


@given(st.text())
def test_any_message_survives_in_plain_ascii(message: str) -> None:
    shown = render([diagnose("syntax-error", message)], "json")
    assert shown.isascii()
    assert json.loads(shown)["diagnostics"][0]["message"] == message
