"""A question as people see it: resources first, then the input, with nothing hidden in it."""

from __future__ import annotations

import json
from typing import Any

from policy.audit import bounded
from policy.call import thaw
from policy.diagnostics import visible
from policy.service.approvals.request import ApprovalRequest
from policy.service.reasons import described

_LONGEST_LINE = 2_000


def shown_input(input: Any) -> str:
    """Return an input as an approver sees it: one line of JSON, hidden characters spelled out."""
    kept, cut = bounded(input, characters=_LONGEST_LINE)
    text = visible(json.dumps(thaw(kept), ensure_ascii=False, default=str))
    return f"{text} (cut)" if cut else text


def question(request: ApprovalRequest) -> str:
    """Return a request as text for a terminal: resources first, then the call, then why."""
    caller = visible(request.caller.agent, 80)
    lines = [f"{caller} wants to run {visible(request.tool, 120)}"]
    lines += [f"  {visible(resource, 300)}" for resource in request.resources]
    lines.append(f"  input: {request.shown}")
    lines += [f"  asked because: {described(reason)}" for reason in request.reasons]
    lines.append(f"  {request.digest}")
    return "\n".join(lines)
