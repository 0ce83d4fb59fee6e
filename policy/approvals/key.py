"""A question in, the key that names what is asked of people, and by whom, out."""

from __future__ import annotations

import uuid

from policy.approvals.binding import ask_key, caller_digest
from policy.approvals.request import ApprovalRequest
from policy.audit import digest_of, exact_digest_of
from policy.reason import Reason, Terms


def question_key(request: ApprovalRequest) -> str:
    """Return the key of a question: of its call, its caller, and the opinions that ask.

    It is the same in every process, so that a question outlives the process that put it. It tells
    `1` from `1.0`, as a tool may: what people are shown is what an answer lets run. What has no
    digest has a key of its own, and is never taken up.
    """
    scope = request.caller.scope
    key = digest_of(
        {
            "kind": request.kind,
            "digest": request.digest,
            "given": exact_digest_of(request.input),
            "caller": caller_digest(request.caller),
            "scope": None
            if scope is None
            else [scope.allowed_tools, scope.expires_at and scope.expires_at.isoformat()],
            "asks": sorted({_asks(reason) for reason in request.reasons}),
        }
    )
    return key or f"none:{uuid.uuid4().hex}"


def _asks(reason: Reason) -> str:
    """Return what one opinion is, and who may answer it."""
    terms = reason.terms or Terms()
    told = [ask_key(reason), terms.groups, terms.two_people]
    return digest_of(told) or f"none:{uuid.uuid4().hex}"
