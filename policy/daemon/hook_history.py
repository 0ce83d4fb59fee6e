"""The earlier calls of an agent's sessions, as far as its hooks let them through.

A hook is asked before a tool runs and not told what came of it. So a call that went on may have had
its effect: conditions with `after` are indeterminate from then on.
"""

from __future__ import annotations

import os

from policy.generation import state_folder
from policy.model import Caller, History, Recall
from policy.service import JudgedHistory, Judgement, SessionLogUnusable, SqliteSessionLog

_NAME = "history.sqlite"
_LOST = "a call could not be noted"


class HookHistory:
    """The history of all sessions under one policy, in a file among this user's state."""

    def __init__(self, policy: str | os.PathLike[str]) -> None:
        self._path = state_folder(policy) / _NAME
        self._log: SqliteSessionLog | None = None
        self._lost = False

    def recall(self, caller: Caller) -> Recall:
        """Return what recalls the earlier calls of a session, for one decision."""
        return JudgedHistory(self.history, caller)

    def history(self, caller: Caller) -> History:
        """Return the earlier calls of the caller's session; raise SessionLogUnusable."""
        if self._lost:
            raise SessionLogUnusable(_LOST)
        return self._opened().history(caller)

    def note(self, caller: Caller, judged: tuple[Judgement, ...]) -> bool:
        """Note calls that go on; False if their history has changed since they were judged.

        Raises SessionLogUnusable if they were judged by a history and cannot be noted. Where no
        rule asked for it they go on, and the history is not known from then on.
        """
        try:
            return self._noted(caller, judged)
        except SessionLogUnusable:
            self._lost = True
            if any(one.history_read is not None for one in judged):
                raise
            return True

    def _noted(self, caller: Caller, judged: tuple[Judgement, ...]) -> bool:
        read = [history for one in judged if (history := one.history_read) is not None]
        if any(history != read[0] for history in read):
            return False
        # The first is released only by the history that all were judged by.
        judged_by = read[0] if read else None
        for one in judged:
            log = self._opened()
            release = log.release(caller, one.released(None), judged_by=judged_by)
            if release is None:
                return False
            log.finish(release, "running")
            judged_by = None
        return True

    def _opened(self) -> SqliteSessionLog:
        if self._log is None:
            self._log = SqliteSessionLog(self._path)
        return self._log
