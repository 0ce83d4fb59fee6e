"""A call that has ended in, its audit record and its stamped output out."""

from __future__ import annotations

import asyncio
from datetime import datetime
from types import MappingProxyType
from typing import Any

from policy.audit import AuditRecord, Outcome, bounded, digest_of
from policy.call import Frozen
from policy.codes import Code
from policy.decision import Decision
from policy.errors import ToolError
from policy.records import dataclass
from policy.service.in_flight import InFlight
from policy.service.service import ToolOutput, ToolOutputMetadata, ToolSource, source_of
from policy.service.usage import tokens
from policy.verdict import Verdict

_LONGEST_NAME = 300
_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A call as it came, kept at once: whoever made it may go on to change what it passed."""

    tool: str
    input: Frozen
    digest: str | None
    cut: bool
    at: datetime


def arrival(tool: str, input: Any, at: datetime) -> Arrival:
    """Return what is kept of a raw call, whatever its name and input are; never raises."""
    name, (kept, cut, digest) = _named(tool), _kept(input)
    return Arrival(
        tool=name[:_LONGEST_NAME],
        input=kept,
        digest=digest,
        cut=cut or len(name) > _LONGEST_NAME,
        at=at,
    )


def _named(tool: object) -> str:
    try:
        return str.__str__(tool) if isinstance(tool, str) else str(tool)
    except Exception:  # noqa: BLE001 - what has no words is no name of a tool, but called all the same
        return type(tool).__name__


def _kept(input: Any) -> tuple[Frozen, bool, str | None]:
    """Return an input, whether it is cut, and its digest; nothing of one that cannot be read."""
    try:
        return (*bounded(input), digest_of(input))
    except Exception:  # noqa: BLE001 - a mapping may raise whatever it likes when it is looked at
        return None, True, None


def record_of(
    call: InFlight,
    arrived: Arrival,
    *,
    latency_ms: int,
    problem: BaseException | None,
    output: ToolOutput | None = None,
) -> AuditRecord:
    """Return the record of a call; `problem` is what it raised, None for an output."""
    decision = _decision(call, problem)
    final, digest, final_cut = _final(decision, arrived)
    return AuditRecord(
        id=call.id,
        at=arrived.at,
        caller=call.caller,
        asked_tool=arrived.tool,
        tool=None if decision is None else decision.call.tool[:_LONGEST_NAME],
        input=arrived.input,
        input_digest=arrived.digest,
        final_input=final,
        final_digest=digest,
        verdict=Verdict.DENY if decision is None else decision.verdict,
        outcome=outcome_of(problem),
        latency_ms=latency_ms,
        cut=arrived.cut or final_cut,
        error=None if problem is None else getattr(problem, "kind", type(problem).__name__),
        code=code_of(problem),
        message=_message(problem),
        reasons=() if decision is None else decision.reasons,
        shadowed=() if decision is None else decision.shadowed,
        generation=None if decision is None else decision.generation,
        stale=call.judgement is not None and call.judgement.stale,
        repairs=() if decision is None else decision.repairs,
        rewritten=decision is not None and decision.rewritten,
        approvals=tuple(call.approvals),
        source=_source(call),
        tokens_used=tokens_used(call, output),
        parent=call.parent,
    )


def _final(decision: Decision | None, arrived: Arrival) -> tuple[Frozen, str | None, bool]:
    """Return what is kept of the input that was judged: most are what came, seen once already."""
    if decision is None:
        return None, None, False
    input = decision.call.input
    if not arrived.cut and _alike(input, arrived.input):
        return arrived.input, arrived.digest, False
    kept, cut = bounded(input)
    return kept, digest_of(input), cut


def _alike(one: Any, other: Any) -> bool:
    """Tell whether two frozen values are the same to the last kind: `1` is not `1.0` or `True`."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is MappingProxyType:
        return len(one) == len(other) and all(
            key in other and _alike(item, other[key]) for key, item in one.items()
        )
    if kind is tuple:
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def ended(output: ToolOutput, call: InFlight, *, latency_ms: int) -> ToolOutput:
    """Return an output stamped with what is known of its call."""
    decision, given = call.decision, output.metadata
    return ToolOutput(
        value=output.value,
        then=output.then,
        metadata=ToolOutputMetadata(
            latency_ms=latency_ms,
            tokens_used=tokens_used(call, output),
            source=given.source,
            call_id=call.id,
            tool=given.tool if decision is None else decision.call.tool,
            generation=None if decision is None else decision.generation,
            rewritten=decision is not None and decision.rewritten,
            repairs=() if decision is None else decision.repairs,
        ),
    )


_OUTCOMES: dict[str, Outcome] = {
    "permission-denied": "denied",
    "not-found": "not-found",
    "validation-failed": "refused",
    "timeout": "timeout",
    "transport": "unreachable",
}


def outcome_of(problem: BaseException | None) -> Outcome:
    """Return how a call ended that raised `problem`."""
    if problem is None:
        return "ok"
    if isinstance(problem, asyncio.CancelledError):
        return "cancelled"
    if isinstance(problem, ToolError):
        return _OUTCOMES.get(problem.kind, "failed")
    # What is no answer of a tool ends the program around it, or was never meant to happen.
    return "failed" if isinstance(problem, Exception) else "cancelled"


def code_of(problem: BaseException | None) -> Code | None:
    """Return the code of what a call raised, None for an output."""
    if problem is None:
        return None
    if isinstance(problem, ToolError):
        return problem.code
    return "cancelled" if outcome_of(problem) == "cancelled" else "tool-error"


def tokens_used(call: InFlight, output: ToolOutput | None) -> int | None:
    """Return the tokens that a tool says it used: in its output, else reported while it ran."""
    said = None if output is None else tokens(output.metadata.tokens_used)
    return call.usage.tokens if said is None else said


def _source(call: InFlight) -> ToolSource | None:
    spec = None if call.judgement is None else call.judgement.spec
    return None if spec is None else source_of(spec)


def _decision(call: InFlight, problem: BaseException | None) -> Decision | None:
    """Return the decision a call ended with: that of its denial, if it was denied."""
    denial = getattr(problem, "decision", None)
    return denial if isinstance(denial, Decision) else call.decision


def _message(problem: BaseException | None) -> str | None:
    if isinstance(problem, ToolError):
        return problem.message[:_LONGEST_MESSAGE]
    return None
