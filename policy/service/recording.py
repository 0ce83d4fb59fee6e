"""A call that has ended in, its audit record and its stamped output out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from operator import is_
from types import MappingProxyType
from typing import Any

from policy.audit import AuditRecord, Outcome, RecordDraft, bounded, digest_of, whole
from policy.call import Frozen
from policy.codes import SENTENCES, Code
from policy.commands import script_for
from policy.decision import Decision
from policy.errors import ToolError
from policy.service.in_flight import InFlight
from policy.service.service import ToolOutput, ToolOutputMetadata, source_of
from policy.service.usage import tokens
from policy.verdict import Verdict

_LONGEST_NAME = 300
_LONGEST_MESSAGE = 500


def arrival(call: InFlight, tool: object, input: Any, *, at: datetime) -> RecordDraft:
    """Begin the record of a call that has just arrived, whatever its name and input are.

    What came is kept at once: whoever made the call may go on to change what it passed. Never
    raises.
    """
    draft, name = RecordDraft(), tool if type(tool) is str else _named(tool)
    draft.id, draft.parent, draft.caller, draft.at = call.id, call.parent, call.caller, at
    draft.asked_tool, draft.cut = name, False
    try:
        draft.input = whole(input)
    except Exception:  # noqa: BLE001 - a mapping that is changed meanwhile
        draft.input = None
    if draft.input is None:
        draft.input, draft.cut, draft.input_digest = _kept(input)
    if len(name) > _LONGEST_NAME:
        draft.asked_tool, draft.cut = name[:_LONGEST_NAME], True
    return draft


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
    arrived: RecordDraft,
    call: InFlight,
    *,
    latency_ms: int,
    tokens_used: int | None,
    problem: BaseException | None = None,
) -> AuditRecord:
    """Return the record of a call that has ended; `problem` is what it raised, None for an output.

    It is what was begun when the call arrived, so that can be used but once.
    """
    arrived.latency_ms = latency_ms if latency_ms > 0 else 0
    arrived.tokens_used = tokens_used
    if problem is None:
        arrived.outcome = "ok"
        arrived.error = arrived.code = arrived.message = None
    else:
        _tell_problem(arrived, problem)
    _tell_judgement(arrived, call)
    return arrived.done()


def start_of(arrived: RecordDraft, call: InFlight) -> AuditRecord:
    """Return what is to be said of a call that is about to run, if its end is never heard of."""
    start = RecordDraft()
    start.id, start.parent, start.caller = arrived.id, arrived.parent, arrived.caller
    start.at, start.asked_tool = arrived.at, arrived.asked_tool
    start.input, start.cut = arrived.input, arrived.cut
    if hasattr(arrived, "input_digest"):
        start.input_digest = arrived.input_digest
    start.latency_ms, start.tokens_used = 0, None
    start.outcome, start.error, start.code = "interrupted", "interrupted", "interrupted"
    start.message = SENTENCES["interrupted"]
    _tell_judgement(start, call)
    return start.done()


def _tell_judgement(draft: RecordDraft, call: InFlight) -> None:
    """Say what was judged of a call, and who let it through."""
    judgement = call.judgement
    draft.approvals = tuple(call.approvals)
    draft.stale = judgement is not None and judgement.stale
    spec = None if judgement is None else judgement.spec
    draft.source = None if spec is None else source_of(spec)
    draft.ran = None
    if judgement is None:
        _tell_undecided(draft)
        return
    _tell_decision(draft, judgement.decision)
    judged = judgement.decision.call
    script = script_for(judged.tool, judged.input) if call.permitted else None
    if script is not None:
        kept, cut = bounded(script)
        draft.ran, draft.cut = str(kept), draft.cut or cut


def _tell_problem(draft: RecordDraft, problem: BaseException) -> None:
    """Say how a call ended that has no output."""
    draft.outcome = outcome_of(problem)
    draft.error = problem.kind if isinstance(problem, ToolError) else type(problem).__name__
    draft.code = code_of(problem)
    draft.message = _message(problem)


def _tell_undecided(draft: RecordDraft) -> None:
    """Say that nothing was decided of the call, which is a denial."""
    draft.tool = draft.generation = draft.final_input = draft.final_digest = None
    draft.verdict = Verdict.DENY
    draft.reasons = draft.shadowed = ()
    draft.repairs = ()
    draft.rewritten = False


def _tell_decision(draft: RecordDraft, decision: Decision) -> None:
    """Say what was decided, about which call; most is what came, seen once already."""
    call = decision.call
    draft.tool = call.tool[:_LONGEST_NAME]
    draft.verdict = decision.verdict
    draft.reasons, draft.shadowed = decision.reasons, decision.shadowed
    draft.generation = decision.generation
    draft.repairs = decision.repairs
    draft.rewritten = call is not decision.asked and decision.rewritten
    input = call.input
    if not draft.cut and _is_what_came(input, draft.input):
        # And so is its digest, which whoever looks for one finds there.
        draft.final_input = draft.input
        return
    draft.final_input = whole(input)
    if draft.final_input is None:
        draft.final_digest = digest_of(input)
        draft.final_input, cut = bounded(input)
        draft.cut = draft.cut or cut


def _is_what_came(input: Mapping[str, Any], came: Any) -> bool:
    """Tell whether an input that was judged is what came, to the last kind of number."""
    if type(came) is not MappingProxyType:
        return False
    # What was copied twice, without anything being mended, holds the very same texts and numbers.
    if list(input) == list(came) and all(map(is_, input.values(), came.values())):
        return True
    return _alike(input, came)


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
        if not _alike(item, known):
            return False
    return True


_ABSENT: Any = object()


def ended(
    output: ToolOutput, call: InFlight, *, latency_ms: int, tokens_used: int | None
) -> ToolOutput:
    """Return an output stamped with what is known of its call."""
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
    return ToolOutput(value=output.value, metadata=metadata, then=output.then)


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
        if problem.code == "frozen" and problem.kind == "execution":
            return "cancelled"  # it ran, and people ended it
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


def _message(problem: BaseException | None) -> str | None:
    if isinstance(problem, ToolError):
        return problem.message[:_LONGEST_MESSAGE]
    return None
