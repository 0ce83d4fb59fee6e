"""The message to a model about a denied call: a code from a fixed list, and one sentence.

The sentence is the deciding rule's `because`, or a fixed one. It names no rule or position, quotes
nothing of the input, and does not reveal what would be allowed. People and the audit record get
the full decision.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import structs

from policy.decision import Decision
from policy.diagnostics import visible
from policy.model import (
    DOUBTS,
    SENTENCES,
    Code,
    Doubt,
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
# Room for `…[+12]`, the number of characters left out, within the limit.
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
# Their messages are made from the input.
_QUOTING = frozenset({"schema"})
_USE_NOT_KNOWN = "how much of a limit is used is not known, so it counts as used up"
_UNSAID = frozenset({"none", "default"})
# What is not known for certain if the log of sessions cannot be read.
_IN_THE_LOG: frozenset[Doubt | None] = frozenset({"history", "said"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalMessage:
    """The message to a model about a refusal."""

    code: Code
    message: str


def refusal_message(decision: Decision) -> RefusalMessage:
    """Return the message to a model about a decision that does not allow the call."""
    reason = telling(decision.deciding)
    if reason is None:
        return RefusalMessage(code="not-allowed", message=SENTENCES["not-allowed"])
    code = _code(reason)
    said = because(reason)
    if reason.undecided is not None:
        unsure = _unsure(reason, code)
        said = unsure if said is None else f"{unsure}: {said}"
    return RefusalMessage(code=code, message=one_line(said or SENTENCES[code]))


def denial(
    tool: str, decision: Decision, *, code: Code | None = None, detail: str | None = None
) -> PermissionDenied:
    """Return the error of a refused call.

    A `code` takes precedence over the decision's reasons; `detail` is added to its sentence.
    """
    if code is None:
        refusal = refusal_message(decision)
        return PermissionDenied(tool, refusal.message, decision=decision, code=refusal.code)
    # A rule's text is added as one more clause, a person's as a quotation.
    glue = "; " if detail and detail.startswith("asked because") else ": "
    message = SENTENCES[code] if not detail else f"{SENTENCES[code]}{glue}{detail}"
    return PermissionDenied(tool, one_line(message), decision=decision, code=code)


def frozen_by(freeze: Freeze, decision: Decision) -> Decision:
    """Return the denial of a call whose tool is frozen."""
    reason = Reason(rule="frozen", verdict=Verdict.DENY, message=freeze.because)
    return structs.replace(decision, verdict=Verdict.DENY, reasons=(reason, *decision.reasons))


def asked_because(decision: Decision) -> str | None:
    """Return the `because` of a rule that asks, None if none has one."""
    reason = telling(decision.deciding)
    said = None if reason is None else because(reason)
    if reason is None or said is None or reason.undecided is None:
        return said
    return f"{said} (whether this applies cannot be decided)"


def one_line(text: str, *, longest: int = LONGEST) -> str:
    """Return a text on one line, of bounded length, with hidden characters escaped."""
    return text if _fits(text, longest) else visible(text, longest - _ROOM_FOR_CUT)


def bounded_error(error: ToolError) -> ToolError:
    """Make an error safe to leave the service, whatever its message contains."""
    is_tools = isinstance(error, (Execution, Transport))
    error.message = one_line(error.message, longest=LONGEST_OF_TOOLS if is_tools else LONGEST)
    error.args = (error.message,)
    return error


def _fits(text: str, longest: int) -> bool:
    return len(text) <= longest and visible(text) == text


def telling(deciding: tuple[Reason, ...]) -> Reason | None:
    """Return the reason to report: a matching rule before an indeterminate one."""
    rules = [r for r in deciding if r.undecided is None and r.rule not in _UNSAID]
    unsure = [r for r in deciding if r.undecided is not None]
    for candidates in (rules, unsure, list(deciding)):
        if candidates:
            return next((r for r in candidates if r.message), candidates[0])
    return None


def is_for_want_of_history(decision: Decision) -> bool:
    """Return whether a call might be allowed if earlier calls and the user's words were known."""
    reason = telling(decision.deciding)
    if reason is None or reason.undecided is None:
        return reason is None or reason.rule in _UNSAID
    return reason.doubt in _IN_THE_LOG


def _unsure(reason: Reason, code: Code) -> str:
    """Return that a rule counts although that is not certain, and what is not known."""
    if reason.limit is not None:
        return _USE_NOT_KNOWN
    return SENTENCES[code] if reason.doubt is None else f"{SENTENCES[code]}; {DOUBTS[reason.doubt]}"


def _code(reason: Reason) -> Code:
    if reason.limit is not None:
        return "limit-reached" if reason.undecided is None else "history-unavailable"
    if reason.undecided is not None:
        return "not-understood"
    return _CODES.get(reason.rule, "denied-by-policy")


def because(reason: Reason) -> str | None:
    """Return what the rule's author wrote, None if nothing, or if it could quote the input."""
    said = reason.message
    if not said or reason.rule in _QUOTING or reason.rule in _UNSAID:
        return None
    # The message about conflicting rules ends with their names.
    start, bracket, names = said.rpartition(" (")
    if not bracket or not names.endswith(")"):
        return said
    return start if reason.rule in names.removesuffix(")").split(" and ") else said
