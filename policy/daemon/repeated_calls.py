"""Calls that a hook is asked about twice, as when it is installed in two places: one answer.

Without this, each question would be noted and charged as a call of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

_Answer = TypeVar("_Answer")
# An agent asks all its hooks about a call before it runs; ids of calls are not used again.
_SECONDS = 60.0
_MOST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked(Generic[_Answer]):
    answer: asyncio.Future[_Answer]
    until: float


class RepeatedCalls(Generic[_Answer]):
    """The answers about calls that have an id and may not have ended, for a minute each.

    `call` names a call in its session, `question` is everything that the answer depends on.
    """

    def __init__(self) -> None:
        self._asked: dict[tuple[Hashable, Hashable], _Asked[_Answer]] = {}

    async def once(
        self, call: Hashable, question: Hashable, decide: Callable[[], Awaitable[_Answer]]
    ) -> _Answer:
        """Return the answer to a question about a call, which is decided once."""
        key, now = (call, question), time.monotonic()
        known = self._asked.get(key)
        if known is not None and now < known.until:
            return await asyncio.shield(known.answer)
        self._forget_old(now)
        answer = asyncio.ensure_future(decide())
        self._asked[key] = _Asked(answer=answer, until=now + _SECONDS)
        return await asyncio.shield(answer)

    def forget(self, call: Hashable) -> None:
        """Forget the answers about a call that has ended."""
        for key in [key for key in self._asked if key[0] == call]:
            del self._asked[key]

    def _forget_old(self, now: float) -> None:
        for key, asked in list(self._asked.items()):
            if now < asked.until and len(self._asked) < _MOST:
                return
            del self._asked[key]
