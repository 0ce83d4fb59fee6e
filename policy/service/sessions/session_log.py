"""What a service asks of the log of session trees: `SessionLog`.

A session belongs to a user: equal names of two users are two sessions. A sub-agent's session
belongs to the tree of its parent, and stays there when it is used without it; trees that meet
become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from policy.model import (
    Balance,
    Caller,
    CallOutput,
    Charge,
    History,
    Outcome,
    ReleasedCall,
    UserSaid,
)

# A user and the name of a session.
SessionKey: TypeAlias = tuple[str | None, str]


class SessionLogUnusable(Exception):
    """The log cannot be read or written; the message says why."""


class SessionReader(Protocol):
    """What decisions read of a log."""

    def history(self, caller: Caller) -> History:
        """Return the earlier calls of the caller's session tree."""
        ...

    def balance(self, caller: Caller, charge: Charge, now: datetime | None) -> Balance:
        """Return what is left of a budget for a call of this caller."""
        ...


class SessionLog(SessionReader, Protocol):
    """The session trees of one service. Every method may be called from any thread.

    All of them raise SessionLogUnusable.
    """

    def release(
        self,
        caller: Caller,
        call: ReleasedCall,
        *,
        judged_by: History | None,
        charges: tuple[Charge, ...] = (),
    ) -> Any:
        """Note a call as running, and charge it; None if it has to be judged again.

        That is so if the history is no longer the one it was judged by (None: the decision looked
        at none), or if a budget has no room any more; then nothing is noted or charged. What is
        returned stands for the call.
        """
        ...

    def finish(
        self, release: Any, outcome: Outcome | None, output: CallOutput | None = None
    ) -> None:
        """Note how a call ended; `outcome` None: it never reached its tool, and is not charged.

        `output` is what the agent gets; None: no rule reads it, or it is not known.
        """
        ...

    def hear(self, caller: Caller, texts: Sequence[str], *, missed: bool) -> bool:
        """Note what the user wrote in the session of `caller`, the root of its tree.

        `missed`: the user wrote others before. If nothing is known of the tree, it began elsewhere,
        and its history and budgets are not known either. False if the session has been seen below
        another: its user's messages are those of the root, and these are not noted.
        """
        ...

    def said(self, caller: Caller) -> UserSaid | str:
        """Return what the user wrote in the caller's session tree, or why that is not known."""
        ...


class JudgedHistory:
    """The history of one call's session tree: read when a rule first asks, and then the same.

    What is left of budgets is read each time: when the call is released, it must have room anyway.
    """

    __slots__ = ("_caller", "_log", "failed", "read")

    def __init__(self, log: SessionReader, caller: Caller) -> None:
        self._log = log
        self._caller = caller
        self.read: History | None = None
        # The log could not be read: its store is down or damaged.
        self.failed = False

    def __call__(self) -> History:
        """Return the earlier calls of the session tree."""
        if self.read is None:
            try:
                self.read = self._log.history(self._caller)
            except SessionLogUnusable as error:
                self.failed = True
                self.read = History(unknown=f"the earlier calls cannot be read: {error}")
        return self.read

    def balance(self, charge: Charge, now: datetime | None) -> Balance:
        """Return what is left of a budget."""
        try:
            return self._log.balance(self._caller, charge, now)
        except SessionLogUnusable as error:
            return Balance(used=None, wait=None, unknown=f"what is used cannot be read: {error}")


def sessions_of(caller: Caller) -> list[SessionKey]:
    """Return the sessions of a caller and of those above it."""
    return [(each.user, each.session) for each in caller.chain()]


def children_of(caller: Caller) -> list[SessionKey]:
    """Return the sessions of a caller and of those above it but for the root's."""
    *below, root = sessions_of(caller)
    return [session for session in below if session != root]
