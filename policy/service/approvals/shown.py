"""A question as people see it: resources first, then the input, with nothing hidden in it."""

from __future__ import annotations

import json
from typing import Any

from policy.audit import bounded
from policy.call import Caller, thaw
from policy.diagnostics import visible
from policy.reason import Remembering, Terms
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
    tool = visible(request.tool, 120)
    wants = {
        "call": f"wants to run {tool}",
        "elevation": f"asks that calls of {tool} be let through for a while",
    }
    lines = [f"{_asker(request.caller)} {wants[request.kind]}"]
    lines += [f"  {visible(resource, 300)}" for resource in request.resources]
    lines.append(f"  input: {request.shown}")
    for reason in request.reasons:
        lines.append(f"  asked because: {described(reason)}")
        wanted = wanted_of(reason.terms)
        if wanted:
            lines.append(f"    {wanted}")
    lines.append(f"  {request.digest}")
    return "\n".join(lines)


def wanted_of(terms: Terms | None) -> str:
    """Return who may answer and what that is worth, empty for anybody's answer to one call."""
    if terms is None:
        return ""
    said = []
    groups = [visible(group, 80) for group in terms.groups]
    if terms.two_people and len(groups) > 1:
        said.append(f"one person each of {', '.join(groups)} has to agree")
    elif terms.two_people:
        said.append(f"two people{f' of {groups[0]}' if groups else ''} have to agree")
    elif groups:
        said.append(f"somebody of {' or '.join(groups)} has to agree")
    if terms.remember is not None:
        said.append(_remembered(terms.remember))
    return "; ".join(said)


def _remembered(remember: Remembering) -> str:
    span = "for the rest of the session"
    if remember.seconds is not None:
        span = f"for {remember.seconds:g} seconds"
    times = "" if remember.times is None else f", up to {remember.times} times"
    fields = " and ".join(_field(steps) for steps in remember.fields)
    what = f"calls with the same {fields}" if fields else "the same call"
    return f"an approval serves {what} {span}{times}"


def _field(steps: tuple[str | int, ...]) -> str:
    path = "input" + "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in steps)
    return visible(path, 120)


def _asker(caller: Caller) -> str:
    """Return who asks: the agent, for whom, and what started it."""
    first, *above = caller.chain()
    user = f" for {visible(first.user, 80)}" if first.user is not None else ""
    started = "".join(f", started by {visible(one.agent, 80)}" for one in above[:3])
    return f"{visible(first.agent, 80)}{user}{started}"
