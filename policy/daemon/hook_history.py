"""The earlier calls of an agent's sessions, and what their users wrote, as its hooks tell them.

A hook is asked before a tool runs. A call that goes on is noted as running, and may have had its
effect; once the agent tells what came of it, that is noted too.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from policy.daemon.agents import Agent, AgentEvent
from policy.daemon.pending_calls import PendingCalls
from policy.generation import state_folder
from policy.model import RUNNING, Balance, Caller, Charge, History, UserSaid
from policy.runtime import DatabaseUnusable
from policy.service import JudgedHistory, Judgement, SessionLogUnusable, SqliteSessionLog

_LOG = logging.getLogger(__name__)
_NAME = "history.sqlite"
_PENDING = "pending.sqlite"
_LOST = "a call could not be noted"


def file_of(policy: str | os.PathLike[str]) -> Path:
    """Return the file among this user's state that keeps the history under a policy."""
    return state_folder(policy) / _NAME


class HookHistory:
    """The history of all sessions under one policy, in a file among this user's state."""

    def __init__(self, policy: str | os.PathLike[str]) -> None:
        self._path = file_of(policy)
        self._log: SqliteSessionLog | None = None
        self._pending = PendingCalls(state_folder(policy) / _PENDING)
        self._lost = False

    def recall(self, caller: Caller) -> JudgedHistory:
        """Return what recalls the earlier calls of a session and its budgets, for one decision."""
        return JudgedHistory(self, caller)

    def history(self, caller: Caller) -> History:
        """Return the earlier calls of the caller's session; raise SessionLogUnusable."""
        if self._lost:
            raise SessionLogUnusable(_LOST)
        return self._opened().history(caller)

    def balance(self, caller: Caller, charge: Charge, now: datetime | None) -> Balance:
        """Return what is left of a budget; raise SessionLogUnusable."""
        if self._lost:
            raise SessionLogUnusable(_LOST)
        return self._opened().balance(caller, charge, now)

    def note(self, caller: Caller, judged: tuple[Judgement, ...], *, calls: Sequence[str]) -> bool:
        """Note calls that go on, and charge them; False if they have to be judged again.

        `calls` may name them in the event that tells of their end. Raises SessionLogUnusable if
        they cannot be noted and were judged by a history, or charge a budget. All others go on, and
        the history is not known from then on.
        """
        try:
            return self._noted(caller, judged, calls)
        except SessionLogUnusable:
            self._lost = True
            if any(one.history_read is not None or one.decision.charges for one in judged):
                raise
            return True

    def end(self, caller: Caller, event: AgentEvent) -> None:
        """Note what came of a call; of one that is not known, nothing. Raises SessionLogUnusable.

        Where the agent does not tell how it ended, it may have had its effect for good.
        """
        try:
            releases = self._pending.take(caller, event.call)
        except (DatabaseUnusable, sqlite3.Error) as error:
            raise SessionLogUnusable(f"what came of a call is not noted: {error}") from error
        for release in releases:
            self._opened().finish(release, event.outcome or RUNNING, event.output)

    def hear(self, caller: Caller, texts: Sequence[str], *, missed: bool) -> bool:
        """Note what the user of a session wrote; see `SessionLog.hear`."""
        return self._opened().hear(caller, texts, missed=missed)

    def said(self, caller: Caller) -> UserSaid | str:
        """Return what the user of a session wrote, or why that is not known."""
        return self._opened().said(caller)

    def is_in_doubt(self, caller: Caller, agent: Agent) -> bool:
        """Return whether the agent may have written the next prompt of a session itself."""
        return any(tool.name in agent.prompts for tool in self.history(caller).tools)

    def _noted(self, caller: Caller, judged: tuple[Judgement, ...], calls: Sequence[str]) -> bool:
        read = [history for one in judged if (history := one.history_read) is not None]
        if any(history != read[0] for history in read):
            return False
        # The first is released only by the history that all were judged by.
        judged_by = read[0] if read else None
        releases: list[int] = []
        for one in judged:
            log = self._opened()
            release = log.release(
                caller, one.released(None), judged_by=judged_by, charges=one.decision.charges
            )
            if release is None:
                # They go on together, or none of them does.
                for before in releases:
                    log.finish(before, None)
                return False
            releases.append(release)
            judged_by = None
        try:
            self._pending.add(caller, calls, releases)
        except (DatabaseUnusable, sqlite3.Error) as error:
            _LOG.warning("what comes of a call will not be known: %s", error)
        return True

    def _opened(self) -> SqliteSessionLog:
        if self._log is None:
            self._log = SqliteSessionLog(self._path)
        return self._log
