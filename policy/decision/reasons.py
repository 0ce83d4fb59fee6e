"""A decision in, the sentence that people read out: bounded, with nothing hidden.

It names rules and places, what the rule's author wrote, and what could not be decided, which may
quote the input. What a model is told is in `policy.service.refusal_messages`.
"""

from __future__ import annotations

from policy.decision.decision import Decision
from policy.diagnostics import visible
from policy.model import Reason

_LONGEST_REASON = 300
_MOST_REASONS = 3


def sentence(decision: Decision) -> str:
    """Return why the verdict is what it is, naming the first few deciding reasons."""
    deciding = decision.deciding
    if not deciding:
        return "no rule allows this"
    told = "; ".join(described(reason) for reason in deciding[:_MOST_REASONS])
    more = len(deciding) - _MOST_REASONS
    return f"{told}; and {more} more" if more > 0 else told


def described(reason: Reason) -> str:
    """Return one reason: what its author wrote, or what it is, and the rule's name."""
    said = reason.message or _WELL_KNOWN.get(reason.rule)
    if reason.undecided is not None:
        undecided = f"this could not be decided: {reason.undecided}"
        said = f"{said} ({undecided})" if said else undecided
    name = visible(reason.rule, 120)
    place = f", {visible(reason.file, 120)}:{reason.line}" if reason.file and reason.line else ""
    if said is None:
        return f"rule {name}{place}"
    return f"{visible(said, _LONGEST_REASON)} ({name}{place})"


_WELL_KNOWN = {
    "none": "no rule allows this",
    "default": "the default for calls that no rule allows",
    "schema": "this is no call the tool understands",
    "scope": "outside of what this guest may call",
    "identity": "this caller may not call tools",
    "floor": "the policy's own files are out of bounds",
    "confirmation": "the tool asks for confirmation",
    "pin": "the tool is new or has changed and was not reviewed yet",
}
