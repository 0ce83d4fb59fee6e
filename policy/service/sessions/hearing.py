"""`Hearing`: what the users of a service wrote, as its hosts tell it and decisions read it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

from policy.model import Caller, PermissionDenied, RecallSaid, Resolvers, UserSaid
from policy.service.sessions.heard_texts import NOT_HEARD
from policy.service.sessions.session_log import JudgedHistory, SessionKey, SessionLogUnusable

# The name in errors: no tool can have such a name.
HEARD = "placet:heard"
_NOT_AT_ROOT = "only the session at the root of all calls hears its user, outside of every tool"
_MOST_LOST = 10_000
_LOST = "something that the user wrote could not be noted"


class HearingLog(Protocol):
    """What keeps the messages of users: a `SessionLog`, or a part of one."""

    def hear(self, caller: Caller, texts: Sequence[str], *, missed: bool) -> bool:
        """Note what the user of a session wrote; see `SessionLog.hear`."""
        ...

    def said(self, caller: Caller) -> UserSaid | str:
        """Return what the user of a session wrote, or why that is not known."""
        ...


class Hearing:
    """Notes what users write, in the log of sessions; what could not be noted is not known."""

    def __init__(self, log: HearingLog) -> None:
        self._log = log
        self._lost: set[SessionKey] = set()
        # Why what somebody told of a session is disregarded.
        self._disregarded: OrderedDict[SessionKey, str] = OrderedDict()

    def hear(self, caller: Caller, texts: Sequence[str], *, resumed: bool, inside: bool) -> None:
        """Note messages of the user.

        `resumed`: the user wrote others before, which nobody noted; of a session that is new here,
        earlier calls are missed as well. `inside`: a tool is running.
        Raises PermissionDenied unless the caller is the root of its tree, outside of every tool,
        and SessionLogUnusable if the messages cannot be noted.
        """
        if caller.parent is not None or inside:
            raise PermissionDenied(HEARD, _NOT_AT_ROOT)
        try:
            heard = self._log.hear(caller, texts, missed=resumed)
        except SessionLogUnusable:
            if len(self._lost) < _MOST_LOST:
                self._lost.add((caller.user, caller.session))
            raise
        if not heard:
            raise PermissionDenied(HEARD, _NOT_AT_ROOT)

    def hear_all(self, caller: Caller, texts: tuple[str, ...] | None) -> None:
        """Note that these are all messages of the user so far, in order; None: they are not valid.

        What does not go on where the messages that are known end makes them unknown; a beginning of
        them is of a call that was overtaken. Messages that are not kept any more are not compared.
        Raises SessionLogUnusable.
        """
        known = self._log.said(caller)
        if texts is None:
            self.lose(caller)
        elif isinstance(known, str):
            self.hear(caller, texts, resumed=False, inside=False)
        else:
            count = _count_of_known(texts, known)
            if count is None:
                self.lose(caller)
            elif count < len(texts):
                self.hear(caller, texts[count:], resumed=False, inside=False)

    def lose(self, caller: Caller) -> None:
        """Note that the user wrote what nobody can read; the session did not begin before.

        Raises as `hear` does.
        """
        # A session of which messages are known has not begun elsewhere.
        self.hear(caller, (), resumed=False, inside=False)
        self.hear(caller, (), resumed=True, inside=False)

    def disregard(self, caller: Caller, why: str) -> None:
        """Note why what is told of a session is not noted."""
        self._disregarded[caller.user, caller.session] = why
        if len(self._disregarded) > _MOST_LOST:
            self._disregarded.popitem(last=False)

    def recall(self, caller: Caller) -> RecallSaid:
        """Return what recalls what the user wrote in a caller's session tree, for one decision."""
        return _Recall(lambda: self._said(caller))

    def _said(self, caller: Caller) -> UserSaid | str:
        """Return what is known; raise SessionLogUnusable."""
        lost = self._lost
        if lost and (
            len(lost) == _MOST_LOST
            or any((each.user, each.session) in lost for each in caller.chain())
        ):
            return _LOST
        said = self._log.said(caller)
        if said == NOT_HEARD and self._disregarded:
            *_, root = caller.chain()
            return self._disregarded.get((root.user, root.session), NOT_HEARD)
        return said


def _count_of_known(texts: tuple[str, ...], known: UserSaid) -> int | None:
    """Return how many of these messages are known already; None if they contradict what is."""
    if known.missing is None:
        heard = known.texts
        agree = texts[: len(heard)] == heard or heard[: len(texts)] == texts
        return min(len(heard), len(texts)) if agree else None
    if len(texts) < known.forgotten + len(known.texts):
        # Of a call that was overtaken; what it says cannot be compared.
        return len(texts)
    count = known.forgotten
    for text in known.texts:
        # Between those that are kept were some that were too long.
        try:
            count = texts.index(text, count) + 1
        except ValueError:
            return None
    return count


def history_failed(resolvers: Resolvers) -> bool:
    """Return whether a decision asked the log of sessions, and it could not be read."""
    history, said = resolvers.history, resolvers.said
    return (isinstance(history, JudgedHistory) and history.failed) or (
        isinstance(said, _Recall) and said.failed
    )


class _Recall:
    """What the user wrote: read when a rule first asks, and then the same."""

    __slots__ = ("_answer", "_ask", "failed")

    def __init__(self, ask: Callable[[], UserSaid | str]) -> None:
        self._ask = ask
        self._answer: UserSaid | str | None = None
        self.failed = False

    def __call__(self) -> UserSaid | str:
        if self._answer is None:
            try:
                self._answer = self._ask()
            except SessionLogUnusable as error:
                self.failed = True
                self._answer = f"what the user wrote cannot be read: {error}"
        return self._answer
