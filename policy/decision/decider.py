"""Decides calls by a program: pure and total; every error makes the outcome stricter."""

from __future__ import annotations

from dataclasses import dataclass

from policy.admission import Admitted, RawCall, Refused, admit
from policy.decision.compiled import decide_compiled
from policy.decision.confining import with_confinement
from policy.decision.interpreted import decide_interpreted, unknown_tool
from policy.decision.limits import with_limits
from policy.model import (
    Caller,
    Decision,
    Facts,
    GenerationId,
    Reason,
    ToolCall,
    Verdict,
    decided,
    mark_admitted,
)
from policy.program import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A decision on a raw call, and what admission returned; one of the other two is None."""

    decision: Decision
    admitted: Admitted | None
    refused: Refused | None


def answer(
    program: Program,
    tool: str,
    input: object,
    caller: Caller,
    facts: Facts,
    *,
    generation: GenerationId | None = None,
    charged: bool = False,
) -> Answer:
    """Admit a raw call and decide it; an input that is not a valid call is denied by `schema`.

    `charged` as in `decide`.
    """
    outcome: Admitted | Refused | None = _known_unknown(program, tool)
    if outcome is None:
        raw = RawCall(tool=tool, input=input)
        outcome = admit(
            raw,
            program.catalog,
            open_fields=program.open_fields,
        )
    if isinstance(outcome, Admitted):
        mark_admitted(outcome.call, program.token)
        decision = decide(
            program,
            outcome.call,
            caller,
            facts,
            generation=generation,
            repairs=outcome.repairs,
            charged=charged,
        )
        return Answer(decision=decision, admitted=outcome, refused=None)
    if outcome.kind == "not-found":
        _remember_unknown(program, tool, outcome)
    return Answer(decision=_refusal(outcome, generation=generation), admitted=None, refused=outcome)


# Finding similar names is the most expensive step here, and a model that got a name wrong tends to
# repeat it. The catalogue of a program never changes, so neither do the names similar to a name.
_MOST_UNKNOWN = 1024
_LONGEST_NAME = 200


def _known_unknown(program: Program, tool: object) -> Refused | None:
    """Return the cached refusal of an unknown tool name."""
    return program.unknown.get(tool) if type(tool) is str else None


def _remember_unknown(program: Program, tool: str, refused: Refused) -> None:
    if type(tool) is not str or len(tool) > _LONGEST_NAME:
        return
    if len(program.unknown) >= _MOST_UNKNOWN:
        program.unknown.clear()
    program.unknown[tool] = refused


def decide(
    program: Program,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    *,
    generation: GenerationId | None = None,
    repairs: tuple[str, ...] = (),
    charged: bool = False,
) -> Decision:
    """Decide an admitted call. Never raises; a call of an unknown tool is denied by `schema`.

    `charged`: the call runs already, and was charged when it was released, so no limit is asked.
    """
    spec = program.catalog.get(call.tool)
    if spec is None:
        return unknown_tool(call, generation)
    if call.tool != spec.name:
        # The name that versions share resolves to the newest; the decision contains the full name.
        call = ToolCall(tool=spec.name, input=call.input)
    if program.shortcuts.generated:
        decision = decide_compiled(program, call, caller, facts, generation, repairs)
    else:
        decision = decide_interpreted(
            program, call, caller, facts, None, generation=generation, repairs=repairs
        )
    if program.has_limits and not charged:
        decision = with_limits(program, decision, caller=caller, facts=facts)
    if facts.sandbox is not None:
        return with_confinement(program, decision, caller=caller, facts=facts)
    return decision


def _refusal(refused: Refused, *, generation: GenerationId | None) -> Decision:
    reason = Reason(rule="schema", verdict=Verdict.DENY, message=refused.message)
    return decided(Verdict.DENY, ToolCall(tool=refused.tool), (reason,), generation=generation)
