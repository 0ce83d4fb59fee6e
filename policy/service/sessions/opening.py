"""Opens the log of sessions that a configuration asks for."""

from __future__ import annotations

from policy.generation import HistorySettings
from policy.service.sessions.kept_calls import KeepingBounds
from policy.service.sessions.memory_log import MemorySessionLog
from policy.service.sessions.session_log import SessionLog
from policy.service.sessions.sqlite_log import SqliteSessionLog


def open_session_log(settings: HistorySettings) -> SessionLog:
    """Return the log of `[history]`; raise SessionLogUnusable if its file cannot be opened."""
    bounds = KeepingBounds(
        entries=settings.entries,
        bytes=settings.bytes,
        result_bytes=settings.result_bytes,
        retention=settings.retention,
    )
    if settings.store is None:
        return MemorySessionLog(bounds=bounds)
    return SqliteSessionLog(settings.store, bounds=bounds)
