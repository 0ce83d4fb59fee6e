"""The calls of each session tree, as later decisions may look at them."""

from policy.service.sessions.session_log import (
    JudgedHistory,
    Release,
    SessionLog,
    outcome_of,
)

__all__ = ["JudgedHistory", "Release", "SessionLog", "outcome_of"]
