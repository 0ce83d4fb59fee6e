"""What a model is told of a denied call: a code of a closed list, and one sentence.

The sentence is the deciding rule's `because`, or a fixed one of ours. It names no rule and no
place, quotes nothing of the input, and does not say what would have passed. People and the audit
record get the whole decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policy.decision import Decision
from policy.diagnostics import visible
from policy.model import (
    SENTENCES,
    Code,
    Execution,
    PermissionDenied,
    Reason,
    ToolError,
    Transport,
    Verdict,
)
from policy.store import Freeze

LONGEST = 300
LONGEST_OF_TOOLS = 2_000
# `…[+12]`: how many characters are left out is told within the limit.
_ROOM_FOR_CUT = 16

_CODES: dict[str, Code] = {
    "none": "not-allowed",
    "default": "not-allowed",
    "scope": "outside-scope",
    "identity": "unknown-caller",
    "floor": "out-of-bounds",
    "frozen": "frozen",
    "pin": "not-reviewed",
}
# Their messages are made of what the input holds.
_QUOTING = frozenset({"schema"})
_UNSAID = frozenset({"none", "default"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalMessage:
    """What a model is told of a refusal."""

    code: Code
    message: str


def refusal_message(decision: Decision) -> RefusalMessage:
    """Return what a model is told of a decision that does not allow the call."""
    reason = _telling(decision.deciding)
    if reason is None:
        return RefusalMessage(code="not-allowed", message=SENTENCES["not-allowed"])
    code = _code(reason)
    said = because(reason)
    if said is None:
        return RefusalMessage(code=code, message=SENTENCES[code])
    if code == "not-understood":
        said = f"{SENTENCES[code]}: {said}"
    return RefusalMessage(code=code, message=one_line(said))


def denial(
    tool: str, decision: Decision, *, code: Code | None = None, said: str | None = None
) -> PermissionDenied:
    """Return the error of a refused call.

    With a `code`, that is why, whatever the decision's reasons are; `said` goes with its sentence.
    """
    if code is None:
        told = refusal_message(decision)
        return PermissionDenied(tool, told.message, decision=decision, code=told.code)
    # What the rule says follows like one more clause, what a person says like a quotation.
    glue = "; " if said and said.startswith("asked because") else ": "
    message = SENTENCES[code] if not said else f"{SENTENCES[code]}{glue}{said}"
    return PermissionDenied(tool, one_line(message), decision=decision, code=code)


def frozen_by(freeze: Freeze, decision: Decision) -> Decision:
    """Return the decision about a call whose tool people have frozen."""
    reason = Reason(rule="frozen", verdict=Verdict.DENY, message=freeze.because)
    return replace(decision, verdict=Verdict.DENY, reasons=(reason, *decision.reasons))


def asked_because(decision: Decision) -> str | None:
    """Return what a rule that asks says of itself, None where none of them says anything."""
    reason = _telling(decision.deciding)
    return None if reason is None else because(reason)


def one_line(text: str, *, longest: int = LONGEST) -> str:
    """Return a text of one line and bounded length, with nothing hidden in it."""
    return text if _fits(text, longest) else visible(text, longest - _ROOM_FOR_CUT)


def bounded_error(error: ToolError) -> ToolError:
    """Make an error fit to leave the service, whoever wrote its message."""
    is_tools = isinstance(error, (Execution, Transport))
    error.message = one_line(error.message, longest=LONGEST_OF_TOOLS if is_tools else LONGEST)
    error.args = (error.message,)
    return error


def _fits(text: str, longest: int) -> bool:
    return len(text) <= longest and visible(text) == text


def _telling(deciding: tuple[Reason, ...]) -> Reason | None:
    """Return the reason to tell: a rule that holds before one that could not be decided."""
    rules = [r for r in deciding if r.undecided is None and r.rule not in _UNSAID]
    unsure = [r for r in deciding if r.undecided is not None]
    for told in (rules, unsure, list(deciding)):
        if told:
            return next((r for r in told if r.message), told[0])
    return None


def _code(reason: Reason) -> Code:
    if reason.undecided is not None:
        return "not-understood"
    return _CODES.get(reason.rule, "denied-by-policy")


def because(reason: Reason) -> str | None:
    """Return what the rule's author wrote, None where that is nothing, or could quote the input."""
    said = reason.message
    if not said or reason.rule in _QUOTING or reason.rule in _UNSAID:
        return None
    # What is said of rules that collide ends in their names.
    start, bracket, names = said.rpartition(" (")
    if not bracket or not names.endswith(")"):
        return said
    return start if reason.rule in names.removesuffix(")").split(" and ") else said
