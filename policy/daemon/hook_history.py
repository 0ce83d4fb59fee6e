"""The earlier calls of an agent's sessions, as far as its hooks let them through.

A hook is asked before a tool runs and not told what came of it. So a call that went on may have had
its effect: conditions with `after` are indeterminate from then on.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from policy.generation import state_folder
from policy.model import Balance, Caller, Charge, History
from policy.service import JudgedHistory, Judgement, SessionLogUnusable, SqliteSessionLog

_NAME = "history.sqlite"
_LOST = "a call could not be noted"


def file_of(policy: str | os.PathLike[str]) -> Path:
    """Return the file among this user's state that keeps the history under a policy."""
    return state_folder(policy) / _NAME


class HookHistory:
    """The history of all sessions under one policy, in a file among this user's state."""

    def __init__(self, policy: str | os.PathLike[str]) -> None:
        self._path = file_of(policy)
        self._log: SqliteSessionLog | None = None
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

    def note(self, caller: Caller, judged: tuple[Judgement, ...]) -> bool:
        """Note calls that go on, and charge them; False if they have to be judged again.

        Raises SessionLogUnusable if they cannot be noted and were judged by a history, or charge a
        budget. All others go on, and the history is not known from then on.
        """
        try:
            return self._noted(caller, judged)
        except SessionLogUnusable:
            self._lost = True
            if any(one.history_read is not None or one.decision.charges for one in judged):
                raise
            return True

    def _noted(self, caller: Caller, judged: tuple[Judgement, ...]) -> bool:
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
        for release in releases:
            self._opened().finish(release, "running")
        return True

    def _opened(self) -> SqliteSessionLog:
        if self._log is None:
            self._log = SqliteSessionLog(self._path)
        return self._log
