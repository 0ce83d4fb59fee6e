"""The sentence that explains a decision to people: bounded, with hidden characters escaped.

It names rules and places, quotes what the rule's author wrote, and tells what was indeterminate,
which may quote the input. Messages for models are in `policy.service.refusal_messages`.
"""

from __future__ import annotations

from policy.diagnostics import visible
from policy.model import Decision, Reason

_LONGEST_REASON = 300
_MOST_REASONS = 3


def sentence(decision: Decision) -> str:
    """Return why the verdict is what it is, naming the first few deciding reasons."""
    deciding = decision.deciding
    if not deciding:
        return "no rule allows this"
    sentences = "; ".join(described(reason) for reason in deciding[:_MOST_REASONS])
    more = len(deciding) - _MOST_REASONS
    return f"{sentences}; and {more} more" if more > 0 else sentences


def described(reason: Reason) -> str:
    """Return one reason: its author's message or its description, and the rule's name."""
    said = reason.message or _WELL_KNOWN.get(reason.rule)
    if reason.undecided is not None:
        undecided = f"whether this rule matches cannot be decided: {reason.undecided}"
        said = f"{undecided}; it says: {said}" if said else undecided
    name = visible(reason.rule, 120)
    place = f", {visible(reason.file, 120)}:{reason.line}" if reason.file and reason.line else ""
    if said is None:
        return f"rule {name}{place}"
    return f"{visible(said, _LONGEST_REASON)} ({name}{place})"


_WELL_KNOWN = {
    "none": "no rule allows this",
    "default": "the default for calls that no rule allows",
    "schema": "the tool does not accept this call",
    "scope": "outside the scope of this guest",
    "identity": "this caller may not call tools",
    "floor": "no tool may change the policy's own files",
    "confirmation": "the tool asks for confirmation",
    "pin": "the tool is new or has changed, and has not been reviewed",
}
