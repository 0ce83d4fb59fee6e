"""Approval requests: who may answer them, and which calls an answer allows for how long."""

from policy.approvals.answer import ApprovalOutcome, Approved, Approver, Denied, TimedOut
from policy.approvals.binding import (
    AskedCall,
    AskKey,
    ask_key,
    call_digest,
    caller_digest,
    remembered_key,
    request_key,
    root_session,
)
from policy.approvals.elevation import Elevation
from policy.approvals.entitlement import (
    GroupsOf,
    Person,
    as_of_now,
    entitled,
    identity,
    may_answer,
    unanswered,
)
from policy.approvals.filed import AnswerRefused, Ended, Filed, State
from policy.approvals.gate import ApprovalGate, RequestWithdrawn
from policy.approvals.grant import Grant
from policy.approvals.request import ApprovalRequest
from policy.approvals.request_text import request_text, shown_input
from policy.approvals.scripted import ScriptedApprover
from policy.approvals.sqlite import MemoryApprovals, SqliteApprovals
from policy.approvals.standing import serving_grants
from policy.approvals.store import Bounds, Desk, Ledger, NotFiled, StoreUnusable
from policy.approvals.terminal import TerminalApprover
from policy.approvals.terms_text import answerable_by, serving_for

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
    "GroupsOf",
    "Ledger",
    "MemoryApprovals",
    "NotFiled",
    "Person",
    "RequestWithdrawn",
    "ScriptedApprover",
    "SqliteApprovals",
    "State",
    "StoreUnusable",
    "TerminalApprover",
    "TimedOut",
    "answerable_by",
    "as_of_now",
    "ask_key",
    "call_digest",
    "caller_digest",
    "entitled",
    "identity",
    "may_answer",
    "remembered_key",
    "request_key",
    "request_text",
    "root_session",
    "serving_for",
    "serving_grants",
    "shown_input",
    "unanswered",
]
