"""Makes the audit record of one call of an agent: the answer and its reasons."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from policy.audit import AuditRecord, Outcome, bounded, digest_of
from policy.decision import Decision, ValuePlace
from policy.model import Caller, ToolError, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A call as received: its caller, its time, and the agent's name of the tool."""

    tool: str
    input: Mapping[str, Any]
    caller: Caller
    at: datetime


def record_of_call(
    arrived: Arrived,
    *,
    verdict: Verdict,
    decision: Decision | None,
    values: tuple[ValuePlace, ...],
    error: ToolError | None,
    ran: str | None,
    stale: bool,
    latency_ms: int,
) -> AuditRecord:
    """Return the record of an answered call; the effect of its tool is not known here.

    `verdict` is what the agent was told, which may be stricter than the decision. `ran` is the
    script that was handed back, `values` where those stand that rules look for.
    """
    input, cut = bounded(arrived.input)
    final, final_cut = (None, False) if decision is None else bounded(decision.call.input)
    script, script_cut = (None, False) if ran is None else bounded(ran)
    return AuditRecord(
        id=os.urandom(16).hex(),
        at=arrived.at,
        caller=arrived.caller,
        asked_tool=arrived.tool,
        tool=None if decision is None else decision.call.tool,
        input=input,
        input_digest=digest_of(arrived.input),
        final_input=final,
        final_digest=None if decision is None else digest_of(decision.call.input),
        verdict=verdict,
        outcome=_outcome(verdict, error),
        latency_ms=latency_ms,
        cut=cut or final_cut or script_cut,
        error=None if error is None else error.kind,
        code=None if error is None else error.code,
        message=None if error is None else error.message,
        reasons=() if decision is None else decision.reasons,
        shadowed=() if decision is None else decision.shadowed,
        generation=None if decision is None else decision.generation,
        stale=stale,
        repairs=() if decision is None else decision.repairs,
        rewritten=decision is not None and decision.rewritten,
        ran=None if script is None else str(script),
        values=values,
    )


def _outcome(verdict: Verdict, error: ToolError | None) -> Outcome:
    if verdict is not Verdict.DENY:
        return "answered"
    if error is not None and error.kind == "not-found":
        return "not-found"
    return "refused" if error is not None and error.kind == "validation-failed" else "denied"
