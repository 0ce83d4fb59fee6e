"""The approver of demonstrations and tests: answers prepared in advance."""

from __future__ import annotations

from policy.approvals.answer import ApprovalOutcome, Denied
from policy.approvals.request import ApprovalRequest

_NONE_LEFT = Denied(by="script", reason="the ScriptedApprover has no answers left")


class ScriptedApprover:
    """Answers from a prepared list, then with `otherwise`; keeps the requests it received.

    Without `otherwise`, requests beyond the list are denied with a message that says so.
    """

    def __init__(
        self,
        *outcomes: ApprovalOutcome,
        otherwise: ApprovalOutcome | None = None,
    ) -> None:
        self._outcomes = list(outcomes)
        self._otherwise = otherwise or _NONE_LEFT
        self.requests: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Return the next prepared answer."""
        self.requests.append(request)
        return self._outcomes.pop(0) if self._outcomes else self._otherwise
