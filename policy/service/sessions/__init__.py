"""The calls of each session tree, as later decisions may look at them."""

from policy.service.sessions.call_outputs import outcome_of, told_by, told_by_error
from policy.service.sessions.charging import StoredBudget
from policy.service.sessions.hearing import Hearing, history_failed
from policy.service.sessions.kept_calls import KeepingBounds
from policy.service.sessions.memory_log import MemorySessionLog
from policy.service.sessions.opening import open_session_log, open_stored_log
from policy.service.sessions.redis_log import RedisSessionLog
from policy.service.sessions.session_log import JudgedHistory, SessionLog, SessionLogUnusable
from policy.service.sessions.session_summary import SessionSummary
from policy.service.sessions.sqlite_log import SqliteSessionLog

__all__ = [
    "Hearing",
    "JudgedHistory",
    "KeepingBounds",
    "MemorySessionLog",
    "RedisSessionLog",
    "SessionLog",
    "SessionLogUnusable",
    "SessionSummary",
    "SqliteSessionLog",
    "StoredBudget",
    "history_failed",
    "open_session_log",
    "open_stored_log",
    "outcome_of",
    "told_by",
    "told_by_error",
]
