"""What commands for people show of a session tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from policy.model import CalledTool, PastCalls, ToolCalls
from policy.service.sessions.session_log import SessionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A session tree: its sessions, the tools that were called, and the calls that are kept."""

    sessions: tuple[SessionKey, ...]
    tools: Mapping[CalledTool, ToolCalls]
    kept: PastCalls
    running: int
