"""Denies calls while a store has no generation."""

from __future__ import annotations

from policy.decision import Answer, Decision
from policy.model import Reason, ToolCall, Verdict
from policy.values import escape_for_display

MESSAGE = "no policy could be loaded"


def refuse_without_generation(tool: object) -> Answer:
    """Return the refusal of a call; nothing of its input is looked at."""
    name = escape_for_display(tool, 256) if isinstance(tool, str) else ""
    call = ToolCall(tool=name)
    reason = Reason(rule="none", verdict=Verdict.DENY, message=MESSAGE)
    decision = Decision(verdict=Verdict.DENY, call=call, asked=call, reasons=(reason,))
    return Answer(decision=decision, admitted=None, refused=None)
