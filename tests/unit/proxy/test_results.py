"""Outputs, errors and records as MCP clients get them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from mcp.types import CallToolResult, TextContent

from policy.audit import AuditRecord
from policy.decision import GenerationId
from policy.model import (
    Caller,
    Decision,
    LimitUse,
    NotFound,
    PermissionDenied,
    Reason,
    Timeout,
    ToolCall,
    ToolError,
    Verdict,
)
from policy.proxy import answer, refusal
from policy.tools import ToolOutput


def record(verdict: Verdict, *reasons: Reason, error: str | None = None) -> AuditRecord:
    return AuditRecord(
        id="7",
        at=datetime(2026, 11, 21, tzinfo=UTC),
        caller=Caller(),
        asked_tool="t",
        tool="t",
        input=None,
        input_digest=None,
        final_input=None,
        final_digest=None,
        verdict=verdict,
        outcome="ok",
        latency_ms=1,
        error=error,
        reasons=reasons,
        generation=GenerationId(number=3, digest="sha256:00"),
    )


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize(
    ("value", "text", "structure"),
    [
        ("plain", "plain", None),
        (None, "null", None),
        (True, "true", None),
        ((1, 2.5), "[\n  1,\n  2.5\n]", None),
        (MappingProxyType({"a": (1,)}), '{\n  "a": [\n    1\n  ]\n}', {"a": [1]}),
        (float("nan"), "null", None),
        ({"n": float("inf"), "d": Decimal("1e400")}, None, {"n": None, "d": "1E+400"}),
        ("half of \ud83d", "half of ?", None),
        ({"\udcff": "\udcff"}, None, {"?": "?"}),
    ],
)
def test_every_output_is_json_that_every_client_can_read(
    value: Any, text: str | None, structure: Any
) -> None:
    result = answer(ToolOutput(value=value), None)
    assert text is None or text_of(result) == text
    assert result.structured_content == structure
    assert not result.is_error
    assert result.model_dump_json(by_alias=True)


@pytest.mark.parametrize(
    "error",
    [
        PermissionDenied("t", "no"),
        NotFound("t", "none"),
        Timeout("t", "late", seconds=1),
        ToolError("t", "other"),
    ],
)
def test_an_error_has_its_stable_code_in_text_and_structure(error: ToolError) -> None:
    result = refusal(error, None)
    assert result.is_error
    assert text_of(result) == f"{error.code}: {error.message}"
    assert result.structured_content == {
        "error": {"kind": error.kind, "code": error.code, "message": error.message}
    }


def test_what_is_told_of_an_error_is_bounded_and_shows_what_it_hides() -> None:
    result = refusal(ToolError("t", "\u202e" + "x" * 100_000), None)
    assert "\u202e" not in text_of(result)
    assert len(text_of(result)) < 3_000


def test_a_result_tells_the_first_deciding_reasons_and_no_other() -> None:
    deny = [Reason(rule=f"d{n}", verdict=Verdict.DENY, message="m" * 900) for n in range(9)]
    other = Reason(rule="a", verdict=Verdict.ALLOW, clause="input.token == 'secret'")
    result = refusal(ToolError("t", "no"), record(Verdict.DENY, *deny, other, error="tool-error"))
    assert result.meta is not None
    said = result.meta["placet"]
    assert [reason["rule"] for reason in said["reasons"]] == ["d0", "d1", "d2"]
    assert all(len(reason["message"]) < 400 for reason in said["reasons"])
    assert "secret" not in str(result)
    assert said["generation"] == {"number": 3, "digest": "sha256:00"}
    assert (said["verdict"], said["kind"], said["call"]) == ("deny", "tool-error", "7")


def test_a_rule_without_a_name_is_not_told_by_its_place() -> None:
    unnamed = Reason(
        rule="agents/a.policy:12", verdict=Verdict.DENY, file="agents/a.policy", line=12
    )
    result = refusal(PermissionDenied("t", "no"), record(Verdict.DENY, unnamed, error="x"))
    assert result.meta is not None
    assert result.meta["placet"]["reasons"] == [{"rule": "a rule without a name"}]
    assert "policy:12" not in result.model_dump_json(by_alias=True)


def test_a_refusal_by_a_limit_says_how_long_to_wait() -> None:
    waiting = LimitUse(used=20, capacity=20, wait=12.3456)
    reasons: tuple[Reason, ...] = (
        Reason(rule="few", verdict=Verdict.DENY, limit=waiting),
        Reason(rule="less", verdict=Verdict.DENY, limit=replace(waiting, wait=3.0)),
    )
    call = ToolCall(tool="t")
    decision = Decision(verdict=Verdict.DENY, call=call, asked=call, reasons=reasons)
    denied = PermissionDenied("t", "a limit is used up", decision=decision, code="limit-reached")
    said = refusal(denied, None).structured_content
    assert said is not None
    assert said["error"]["code"] == "limit-reached"
    assert said["error"]["wait_seconds"] == 12.346
    for never in (replace(waiting, wait=None), None):
        reasons = (*reasons, Reason(rule="never", verdict=Verdict.DENY, limit=never))
        decision = Decision(verdict=Verdict.DENY, call=call, asked=call, reasons=reasons)
        denied = PermissionDenied("t", "no", decision=decision, code="limit-reached")
        said = refusal(denied, None).structured_content
        assert said is not None
        assert "wait_seconds" not in said["error"]
