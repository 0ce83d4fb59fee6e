"""Questions about calls, and what answers are worth: who may answer, for what, for how long."""

from policy.service.approvals.answer import (
    ApprovalOutcome,
    Approved,
    Approver,
    Denied,
    TimedOut,
)
from policy.service.approvals.binding import (
    AskedCall,
    AskKey,
    ask_key,
    call_digest,
    caller_digest,
    remembered_key,
    root_session,
)
from policy.service.approvals.elevation import Elevation
from policy.service.approvals.entitlement import entitled, identity, may_answer, unanswered
from policy.service.approvals.gate import ApprovalGate, QuestionWithdrawn
from policy.service.approvals.grant import Grant
from policy.service.approvals.key import question_key
from policy.service.approvals.ledger import (
    AnswerRefused,
    Bounds,
    Desk,
    Ended,
    Filed,
    Ledger,
    NotFiled,
    State,
    StoreUnusable,
)
from policy.service.approvals.memory import MemoryApprovals
from policy.service.approvals.person import Person
from policy.service.approvals.request import ApprovalRequest
from policy.service.approvals.scripted import ScriptedApprover
from policy.service.approvals.shown import question, shown_input
from policy.service.approvals.sqlite import SqliteApprovals
from policy.service.approvals.standing import serving
from policy.service.approvals.terminal import TerminalApprover
from policy.service.approvals.wanted import answerable_by, serving_for

__all__ = [
    "AnswerRefused",
    "ApprovalGate",
    "ApprovalOutcome",
    "ApprovalRequest",
    "Approved",
    "Approver",
    "AskKey",
    "AskedCall",
    "Bounds",
    "Denied",
    "Desk",
    "Elevation",
    "Ended",
    "Filed",
    "Grant",
    "Ledger",
    "MemoryApprovals",
    "NotFiled",
    "Person",
    "QuestionWithdrawn",
    "ScriptedApprover",
    "SqliteApprovals",
    "State",
    "StoreUnusable",
    "TerminalApprover",
    "TimedOut",
    "answerable_by",
    "ask_key",
    "call_digest",
    "caller_digest",
    "entitled",
    "identity",
    "may_answer",
    "question",
    "question_key",
    "remembered_key",
    "root_session",
    "serving",
    "serving_for",
    "shown_input",
    "unanswered",
]
