"""A call that has ended in, its audit record and its stamped output out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from policy.audit import AuditRecord, Outcome, RecordDraft, bounded, digest_of, whole
from policy.call import Frozen
from policy.codes import Code
from policy.decision import Decision
from policy.errors import ToolError
from policy.service.adjudicator import Judgement
from policy.service.in_flight import InFlight
from policy.service.service import MetadataDraft, ToolOutput, ToolSource, output_of, source_of
from policy.service.usage import tokens
from policy.verdict import Verdict

_LONGEST_NAME = 300
_LONGEST_MESSAGE = 500


class Arrival:
    """A call as it came, kept at once: whoever made it may go on to change what it passed.

    `whole` says that the input is kept as it came, so that its digest can be told from it at any
    time; else `digest` is that of what came.
    """

    # One is made for every call that is recorded; nothing is set again.
    __slots__ = ("at", "cut", "digest", "input", "tool", "whole")

    def __init__(self, tool: object, input: Any, at: datetime) -> None:
        name = _named(tool)
        self.tool = name[:_LONGEST_NAME]
        self.at = at
        self.digest: str | None = None
        self.input, self.cut = _whole(input), False
        self.whole = self.input is not None
        if not self.whole:
            self.input, self.cut, self.digest = _kept(input)
        if len(name) > _LONGEST_NAME:
            self.cut = True


def _whole(input: Any) -> Frozen:
    try:
        return whole(input)
    except Exception:  # noqa: BLE001 - a mapping that changes meanwhile raises
        return None


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
    draft = RecordDraft()
    draft.id = call.id
    draft.at = arrived.at
    draft.caller = call.caller
    draft.asked_tool = arrived.tool
    draft.input = arrived.input
    if not arrived.whole:
        draft.input_digest = arrived.digest
    draft.latency_ms = latency_ms
    draft.approvals = tuple(call.approvals)
    draft.tokens_used = tokens_used(call, output)
    draft.parent = call.parent
    judgement = call.judgement
    draft.stale = judgement is not None and judgement.stale
    draft.source = _source(judgement)
    _tell_end(draft, problem)
    _tell_decision(draft, _decision(call, problem), arrived)
    return draft.done()


def _tell_end(draft: RecordDraft, problem: BaseException | None) -> None:
    """Say how the call ended."""
    if problem is None:
        draft.outcome = "ok"
        draft.error = draft.code = draft.message = None
        return
    draft.outcome = outcome_of(problem)
    draft.error = getattr(problem, "kind", type(problem).__name__)
    draft.code = code_of(problem)
    draft.message = _message(problem)


def _tell_decision(draft: RecordDraft, decision: Decision | None, arrived: Arrival) -> None:
    """Say what was decided, about which call."""
    draft.cut = arrived.cut
    if decision is None:
        draft.tool = draft.generation = draft.final_input = draft.final_digest = None
        draft.verdict = Verdict.DENY
        draft.reasons = draft.shadowed = ()
        draft.repairs = ()
        draft.rewritten = False
        return
    draft.tool = decision.call.tool[:_LONGEST_NAME]
    draft.verdict = decision.verdict
    draft.reasons, draft.shadowed = decision.reasons, decision.shadowed
    draft.generation = decision.generation
    draft.repairs = decision.repairs
    draft.rewritten = _is_rewritten(decision)
    _tell_final(draft, decision.call.input, arrived)


def _tell_final(draft: RecordDraft, input: Mapping[str, Any], arrived: Arrival) -> None:
    """Say what ran, or would have: most is what came, seen once already."""
    if not arrived.cut and _alike(input, arrived.input):
        draft.final_input = arrived.input
        if not arrived.whole:
            draft.final_digest = arrived.digest
        return
    kept = whole(input)
    if kept is not None:
        draft.final_input = kept
        return
    draft.final_input, cut = bounded(input)
    draft.final_digest = digest_of(input)
    draft.cut = arrived.cut or cut


def _alike(one: Any, other: Any) -> bool:
    """Tell whether two frozen values are the same to the last kind: `1` is not `1.0` or `True`."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is tuple:
        return len(one) == len(other) and all(map(_alike, one, other))
    if kind is not MappingProxyType:
        return bool(one == other)
    if len(one) != len(other):
        return False
    for key, item in one.items():
        known = other.get(key, _ABSENT)
        if known is not item and not _alike(item, known):
            return False
    return True


_ABSENT: Any = object()


def ended(output: ToolOutput, call: InFlight, *, latency_ms: int) -> ToolOutput:
    """Return an output stamped with what is known of its call."""
    judgement, given = call.judgement, output.metadata
    decision = None if judgement is None else judgement.decision
    draft = MetadataDraft()
    draft.latency_ms = latency_ms
    draft.tokens_used = tokens_used(call, output)
    draft.source = given.source
    draft.call_id = call.id
    draft.tool = given.tool if decision is None else decision.call.tool
    draft.generation = None if decision is None else decision.generation
    draft.rewritten = decision is not None and _is_rewritten(decision)
    draft.repairs = () if decision is None else decision.repairs
    return output_of(output.value, draft.done(), output.then)


def _is_rewritten(decision: Decision) -> bool:
    return decision.call is not decision.asked and decision.rewritten


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
    said = None if output is None else output.metadata.tokens_used
    known = None if said is None else tokens(said)
    return call.usage.tokens if known is None else known


def _source(judgement: Judgement | None) -> ToolSource | None:
    spec = None if judgement is None else judgement.spec
    return None if spec is None else source_of(spec)


def _decision(call: InFlight, problem: BaseException | None) -> Decision | None:
    """Return the decision a call ended with: that of its denial, if it was denied."""
    denial = getattr(problem, "decision", None)
    return denial if isinstance(denial, Decision) else call.decision


def _message(problem: BaseException | None) -> str | None:
    if isinstance(problem, ToolError):
        return problem.message[:_LONGEST_MESSAGE]
    return None
