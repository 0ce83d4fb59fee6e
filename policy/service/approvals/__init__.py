"""Questions about calls, and what answers are worth: who may answer, for what, for how long."""

from policy.service.approvals.answer import (
    ApprovalOutcome,
    Approved,
    Approver,
    Denied,
    TimedOut,
)
from policy.service.approvals.entitlement import entitled, unanswered
from policy.service.approvals.grant import Grant
from policy.service.approvals.ledger import AnswerRefused, Desk, Filed, Ledger, State
from policy.service.approvals.person import Person
from policy.service.approvals.request import ApprovalRequest
from policy.service.approvals.scripted import ScriptedApprover
from policy.service.approvals.shown import question, shown_input
from policy.service.approvals.terminal import TerminalApprover

__all__ = [
    "AnswerRefused",
    "ApprovalOutcome",
    "ApprovalRequest",
    "Approved",
    "Approver",
    "Denied",
    "Desk",
    "Filed",
    "Grant",
    "Ledger",
    "Person",
    "ScriptedApprover",
    "State",
    "TerminalApprover",
    "TimedOut",
    "entitled",
    "question",
    "shown_input",
    "unanswered",
]
