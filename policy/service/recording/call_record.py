"""The audit record of a call, and the metadata of its output."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from policy.audit import AuditRecord, DeniedAccess, Outcome, bounded, digest_of
from policy.model import SENTENCES, Caller, Code, Execution, Frozen, ToolError, Verdict
from policy.sandbox import Denied, SandboxDenial
from policy.service.in_flight import InFlight
from policy.service.judging.looked_for import looked_for
from policy.shell import script_for
from policy.tools import ToolOutput, ToolOutputMetadata, source_of, tokens

_LONGEST_NAME = 300
_LONGEST_MESSAGE = 500
_NOTHING = (None, False, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What is kept of a call as received: a copy, since the caller may change what it passed."""

    id: str
    parent: str | None
    caller: Caller
    at: datetime
    asked_tool: str
    input: Frozen
    input_digest: str | None
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """How a call ended; `error`, `code` and `message` are those of a record."""

    outcome: Outcome
    error: str | None = None
    code: str | None = None
    message: str | None = None


# A tool has returned an output that says it failed.
_REPORTED_CODE: Code = "tool-error"
_REPORTED = _Ending(
    outcome="failed",
    error=Execution.kind,
    code=_REPORTED_CODE,
    message="the tool reported that it failed",
)


def arrival(call: InFlight, tool: object, input: Any, *, at: datetime) -> Arrival:
    """Return what is kept of a call that has just arrived, whatever its name and input are.

    Never raises.
    """
    name = tool if type(tool) is str else _named(tool)
    kept, cut, digest = _kept(input)
    return Arrival(
        id=call.id,
        parent=call.parent,
        caller=call.caller,
        at=at,
        asked_tool=name[:_LONGEST_NAME],
        input=kept,
        input_digest=digest,
        cut=cut or len(name) > _LONGEST_NAME,
    )


def _named(tool: object) -> str:
    try:
        return str.__str__(tool) if isinstance(tool, str) else str(tool)
    except Exception:  # noqa: BLE001 - an object without a representation is not a tool's name
        return type(tool).__name__


def _kept(input: Any) -> tuple[Frozen, bool, str | None]:
    """Return an input, whether it is cut, and its digest; empty if it cannot be read."""
    try:
        return (*bounded(input), digest_of(input))
    except Exception:  # noqa: BLE001 - a mapping of the caller may raise anything
        return None, True, None


def record_of(
    arrived: Arrival,
    call: InFlight,
    *,
    latency_ms: int,
    tokens_used: int | None,
    problem: BaseException | None = None,
    reported: bool = False,
) -> AuditRecord:
    """Return the record of a call that has ended: with `problem`, or with an output if None.

    `reported` is whether the output reports that the tool failed.
    """
    if problem is not None:
        ending = _ending(problem)
    else:
        ending = _reported(call.denial) if reported else _Ending(outcome="ok")
    return _record(arrived, call, ending, latency_ms=max(latency_ms, 0), tokens_used=tokens_used)


def _reported(denial: SandboxDenial | None) -> _Ending:
    if denial is None:
        return _REPORTED
    message = denial.sentence()[:_LONGEST_MESSAGE]
    return replace(_REPORTED, code=denial.code, message=message)


def _denied(one: Denied) -> DeniedAccess:
    return DeniedAccess(verb=one.verb, target=one.target, likely=one.likely)


def start_of(arrived: Arrival, call: InFlight) -> AuditRecord:
    """Return the record of a call that is about to run, to be used if its end is never written."""
    ending = _Ending(
        outcome="interrupted",
        error="interrupted",
        code="interrupted",
        message=SENTENCES["interrupted"],
    )
    return _record(arrived, call, ending, latency_ms=0, tokens_used=None)


def _ending(problem: BaseException) -> _Ending:
    return _Ending(
        outcome=outcome_of(problem),
        error=problem.kind if isinstance(problem, ToolError) else type(problem).__name__,
        code=code_of(problem),
        message=_message(problem),
    )


def _record(
    arrived: Arrival,
    call: InFlight,
    ending: _Ending,
    *,
    latency_ms: int,
    tokens_used: int | None,
) -> AuditRecord:
    judgement = call.judgement
    spec = None if judgement is None else judgement.spec
    decision = None if judgement is None else judgement.decision
    ran, ran_is_cut = _ran(call)
    final, final_is_cut, final_digest = _NOTHING if decision is None else _kept(decision.call.input)
    return AuditRecord(
        id=arrived.id,
        parent=arrived.parent,
        at=arrived.at,
        caller=arrived.caller,
        asked_tool=arrived.asked_tool,
        input=arrived.input,
        input_digest=arrived.input_digest,
        tool=None if decision is None else decision.call.tool[:_LONGEST_NAME],
        final_input=final,
        final_digest=final_digest,
        cut=arrived.cut or final_is_cut or ran_is_cut,
        # A call that was not decided did not run.
        verdict=Verdict.DENY if decision is None else decision.verdict,
        reasons=() if decision is None else decision.reasons,
        shadowed=() if decision is None else decision.shadowed,
        generation=None if decision is None else decision.generation,
        repairs=() if decision is None else decision.repairs,
        rewritten=decision is not None and decision.rewritten,
        stale=judgement is not None and judgement.stale,
        approvals=tuple(call.approvals),
        source=None if spec is None else source_of(spec),
        ran=ran,
        outcome=ending.outcome,
        error=ending.error,
        code=ending.code,
        message=ending.message,
        latency_ms=latency_ms,
        tokens_used=tokens_used,
        redactions=call.redactions or (),
        values=() if judgement is None else looked_for(judgement, call.caller),
        confinement=None if decision is None else decision.confinement,
        sandbox=call.sandbox,
        denied=() if call.denial is None else tuple(map(_denied, call.denial.denied)),
        made=call.made,
    )


def _ran(call: InFlight) -> tuple[str | None, bool]:
    """Return the script that a shell got for the command, and whether it is cut."""
    if call.decision is None or not call.permitted:
        return None, False
    judged = call.decision.call
    script = script_for(judged.tool, judged.input)
    if script is None:
        return None, False
    kept, cut = bounded(script)
    return str(kept), cut


def ended(
    output: ToolOutput, call: InFlight, *, latency_ms: int, tokens_used: int | None
) -> ToolOutput:
    """Return an output with the metadata of its call."""
    judgement, given = call.judgement, output.metadata
    decision = None if judgement is None else judgement.decision
    metadata = ToolOutputMetadata(
        latency_ms=max(latency_ms, 0),
        tokens_used=tokens_used,
        source=given.source,
        call_id=call.id,
        tool=given.tool if decision is None else decision.call.tool,
        generation=None if decision is None else decision.generation,
        rewritten=decision is not None and decision.rewritten,
        repairs=() if decision is None else decision.repairs,
    )
    return ToolOutput(
        value=output.value,
        metadata=metadata,
        then=output.then,
        is_error=output.is_error,
        relayed=output.relayed,
        denial=call.denial,
    )


_OUTCOMES: dict[str, Outcome] = {
    "permission-denied": "denied",
    "not-found": "not-found",
    "validation-failed": "refused",
    "timeout": "timeout",
    "transport": "unreachable",
}


def outcome_of(problem: BaseException | None) -> Outcome:
    """Return how a call that raised `problem` ended."""
    if problem is None:
        return "ok"
    if isinstance(problem, asyncio.CancelledError):
        return "cancelled"
    if isinstance(problem, ToolError):
        if problem.code == "result-withheld":
            return "withheld"
        if problem.code == "frozen" and problem.kind == "execution":
            return "cancelled"  # it ran, and people ended it
        return _OUTCOMES.get(problem.kind, "failed")
    # Other exceptions end the program around the call, or are errors in Placet.
    return "failed" if isinstance(problem, Exception) else "cancelled"


def code_of(problem: BaseException | None, outcome: Outcome = "ok") -> Code | None:
    """Return the code of an exception, None for an output unless it reports a failure."""
    if problem is None:
        return None if outcome == "ok" else _REPORTED_CODE
    if isinstance(problem, ToolError):
        return problem.code
    return "cancelled" if outcome_of(problem) == "cancelled" else "tool-error"


def tokens_used(call: InFlight, output: ToolOutput | None) -> int | None:
    """Return the tokens that a tool reports: in its output, else while it ran."""
    said = None if output is None else output.metadata.tokens_used
    known = None if said is None else tokens(said)
    return call.usage.tokens if known is None else known


def _message(problem: BaseException | None) -> str | None:
    if isinstance(problem, ToolError):
        return problem.message[:_LONGEST_MESSAGE]
    return None
