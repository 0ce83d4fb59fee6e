"""An approval request as text: resources first, then the input, with escapes."""

from __future__ import annotations

import json
from typing import Any

from policy.approvals.request import ApprovalRequest
from policy.approvals.terms_text import answerable_by, serving_for
from policy.audit import bounded
from policy.decision import described
from policy.diagnostics import visible
from policy.model import Caller, thaw

_LONGEST_LINE = 2_000


def shown_input(input: Any) -> str:
    """Return an input as an approver sees it: one line of JSON, hidden characters escaped."""
    kept, cut = bounded(input, characters=_LONGEST_LINE)
    text = visible(json.dumps(thaw(kept), ensure_ascii=False, default=str))
    return f"{text} (cut)" if cut else text


def request_text(request: ApprovalRequest) -> str:
    """Return a request as text for a terminal: resources first, then the call, then why."""
    tool = visible(request.tool, 120)
    wants = {
        "call": f"wants to run {tool}",
        "elevation": f"asks that calls of {tool} be allowed for a while",
    }
    lines = [f"{_asker(request.caller)} {wants[request.kind]}"]
    lines += [f"  {visible(resource, 300)}" for resource in request.resources]
    lines.append(f"  input: {request.shown}")
    lines += [f"  {visible(value, 300)}" for value in request.values]
    if request.rewritten_script is not None:
        lines.append(f"  runs as: {visible(request.rewritten_script, _LONGEST_LINE)}")
    for reason in request.reasons:
        lines.append(f"  asked because: {described(reason)}")
        terms = reason.terms
        if terms is not None and not (terms.plain and terms.remember is None):
            by = answerable_by(terms)
            lines.append(f"    to be answered by {by}, {serving_for(terms.remember)}")
    lines.append(f"  {request.digest}")
    return "\n".join(lines)


def _asker(caller: Caller) -> str:
    """Return the agent that asks, its user, and the agents that started it."""
    first, *above = caller.chain()
    user = f" for {visible(first.user, 80)}" if first.user is not None else ""
    started = "".join(f", started by {visible(one.agent, 80)}" for one in above[:3])
    return f"{visible(first.agent, 80)}{user}{started}"
