"""The calls of each session tree, as later decisions may look at them."""

from policy.service.sessions.memory_log import MemorySessionLog
from policy.service.sessions.session_log import (
    JudgedHistory,
    SessionLog,
    SessionLogUnusable,
    outcome_of,
)
from policy.service.sessions.sqlite_log import SqliteSessionLog

__all__ = [
    "JudgedHistory",
    "MemorySessionLog",
    "SessionLog",
    "SessionLogUnusable",
    "SqliteSessionLog",
    "outcome_of",
]
