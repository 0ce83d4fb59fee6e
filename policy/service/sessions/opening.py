"""Opens the log of sessions that a configuration asks for."""

from __future__ import annotations

from policy.generation import HistorySettings, SecretUnreadable, read_secret
from policy.service.sessions.kept_calls import KeepingBounds
from policy.service.sessions.memory_log import MemorySessionLog
from policy.service.sessions.redis_log import RedisSessionLog
from policy.service.sessions.session_log import SessionLog, SessionLogUnusable
from policy.service.sessions.sqlite_log import SqliteSessionLog
from policy.values import MessageBounds


def open_session_log(settings: HistorySettings) -> SessionLog:
    """Return the log of `[history]`; raise SessionLogUnusable if its store cannot be opened."""
    if settings.store is None:
        return MemorySessionLog(bounds=_bounds(settings))
    return open_stored_log(settings.store, settings)


def open_stored_log(store: str, settings: HistorySettings) -> SqliteSessionLog | RedisSessionLog:
    """Return the log in a file, or in the server at a URL; raise SessionLogUnusable."""
    bounds = _bounds(settings)
    if "://" not in store:
        return SqliteSessionLog(store, bounds=bounds)
    try:
        password = None if settings.password is None else read_secret(settings.password)
    except SecretUnreadable as error:
        raise SessionLogUnusable(f"the history of sessions cannot be kept: {error}") from error
    return RedisSessionLog(store, password=password, bounds=bounds)


def _bounds(settings: HistorySettings) -> KeepingBounds:
    return KeepingBounds(
        entries=settings.entries,
        bytes=settings.bytes,
        result_bytes=settings.result_bytes,
        retention=settings.retention,
        said=MessageBounds(bytes=settings.said_bytes, message_bytes=settings.message_bytes),
    )
