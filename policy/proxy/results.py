"""The MCP result of a call that has ended.

An error has its stable code and one sentence, for the model. `_meta` is for the client program: it
also names the rules that decided. Neither contains the value of an argument.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from mcp.types import CallToolResult, TextContent

from policy.audit import AuditRecord
from policy.model import PermissionDenied, Reason, ToolError, Verdict
from policy.proxy.offered_names import shown_block
from policy.proxy.relaying import relay
from policy.service import because, one_line
from policy.tools import RelayedResult, ToolOutput

_MOST_REASONS = 3
_LONGEST_MESSAGE = 2_000
# No rule can have such a name.
_UNNAMED = "a rule without a name"


def answer(
    output: ToolOutput, record: AuditRecord | None, *, offered: bool = False
) -> CallToolResult:
    """Return the result of a call with an output: a string as it is, other values as JSON.

    The result of another server is returned as that server sent it; if what it offers is `offered`
    to clients, resources in it have the names that clients can read them by.
    """
    if output.relayed is not None:
        result = output.relayed
        if offered:
            server = output.metadata.tool.partition("__")[0]
            content = tuple(shown_block(server, block) for block in result.content)
            result = replace(result, content=content)
        return _relayed(output, result, record)
    value = plain(output.value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=value if isinstance(value, dict) else None,
        is_error=output.is_error,
        _meta=_meta(record),
    )


def _relayed(
    output: ToolOutput, result: RelayedResult, record: AuditRecord | None
) -> CallToolResult:
    # The SDK would refuse parts that it does not know; `relaying` puts them all into the answer.
    relay(result)
    structured = result.structured
    return CallToolResult(
        content=[],
        structured_content=structured if isinstance(structured, dict) else None,
        is_error=output.is_error,
        _meta={**result.meta, **(_meta(record) or {})},
    )


def refusal(error: ToolError, record: AuditRecord | None) -> CallToolResult:
    """Return the result of a call that ended in an error, for the model to continue with."""
    message = said_of(error)
    return CallToolResult(
        content=[TextContent(text=f"{error.code}: {message}")],
        structured_content=_error(error),
        is_error=True,
        _meta=_meta(record),
    )


def said_of(error: ToolError) -> str:
    """Return the message of an error in one line of bounded length."""
    return one_line(error.message, longest=_LONGEST_MESSAGE)


def reported(error: ToolError | None, record: AuditRecord | None) -> dict[str, Any]:
    """Return what Placet reports of a request that ends in no result of a tool."""
    return {**(_meta(record) or {}), **({} if error is None else _error(error))}


def _error(error: ToolError) -> dict[str, Any]:
    about = {"kind": error.kind, "code": error.code, "message": said_of(error)}
    return {"error": {**about, **_wait(error)}}


def _wait(error: ToolError) -> dict[str, float]:
    """Return the seconds until the limits that deny a call have room, if time makes it."""
    wait = error.wait if isinstance(error, PermissionDenied) else None
    return {} if wait is None else {"wait_seconds": round(wait, 3)}


def _meta(record: AuditRecord | None) -> dict[str, Any] | None:
    """Return what Placet reports of the call: its verdict, its reasons and the generation."""
    if record is None:
        return None
    report: dict[str, Any] = {"call": record.id, "verdict": record.verdict.value}
    if record.error is not None:
        report["kind"] = record.error
    if record.code is not None:
        report["code"] = record.code
    if record.generation is not None:
        report["generation"] = {
            "number": record.generation.number,
            "digest": record.generation.digest,
        }
    report["reasons"] = [_reason(reason) for reason in _deciding(record)]
    if record.stale:
        report["stale"] = True
    if record.rewritten and record.verdict is not Verdict.DENY:
        report["rewritten"] = True
    if record.approvals:
        report["approval"] = record.approvals[-1].outcome
    return {"placet": report}


def _reason(reason: Reason) -> dict[str, str]:
    message = because(reason)
    return {"rule": _named(reason), **({"message": one_line(message)} if message else {})}


def _named(reason: Reason) -> str:
    """Return the rule's name; positions in files, which name other rules, stay in this process."""
    at = f"{reason.file}:{reason.line}"
    unnamed = reason.file is not None and reason.rule.endswith(at)
    return _UNNAMED if unnamed else one_line(reason.rule)


def _deciding(record: AuditRecord) -> tuple[Reason, ...]:
    deciding = tuple(reason for reason in record.reasons if reason.verdict is record.verdict)
    return deciding[:_MOST_REASONS]


def plain(value: Any) -> Any:
    """Return a value as JSON that every client can read: no NaN, no lone surrogates."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return str(value)
        case Mapping():
            return {plain(str(key)): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return plain(str(value))
