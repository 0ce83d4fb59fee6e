"""Changes of a registry, from any thread, in one event loop."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TypeAlias

from policy.tools.registry_snapshot import RegistryChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Replaces `count` changes, up to `revision`, for which a reader was too slow.

    The registry's snapshot has the current state.
    """

    count: int
    revision: int


RegistryNews: TypeAlias = RegistryChange | Missed
Subscribe: TypeAlias = Callable[[Callable[[RegistryChange], None]], Callable[[], None]]


class RegistryFeed:
    """The changes since it was made, for `async for`; it ends by `close`, or when dropped.

    Changes made before it was closed are still returned.
    """

    def __init__(self, subscribe: Subscribe, *, buffer: int) -> None:
        if buffer < 1:
            raise ValueError("a feed must keep at least one change")
        self._kept = _Kept(asyncio.get_running_loop(), buffer=buffer)
        self._kept.end = subscribe(self._kept.put)
        weakref.finalize(self, self._kept.abandon).atexit = False

    def __aiter__(self) -> RegistryFeed:
        return self

    async def __anext__(self) -> RegistryNews:
        """Return the next change; wait for it if there is none yet."""
        news = await self._kept.next()
        if news is None:
            raise StopAsyncIteration
        return news

    def close(self) -> None:
        """Accept no further changes; waiting readers end."""
        self._kept.close()

    async def __aenter__(self) -> RegistryFeed:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Kept:
    """Changes that were not read yet. Written in any thread, read in the loop it was made for."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, buffer: int) -> None:
        self._loop = loop
        self._buffer = buffer
        self._news: deque[RegistryNews] = deque()
        self._closed = False
        self.end: Callable[[], None] = _nothing
        self._lock = threading.Lock()
        self._there = asyncio.Event()

    def put(self, change: RegistryChange) -> None:
        """Keep a change, or only count it if there is no room."""
        if self._closed or self._loop.is_closed():
            self.end()
            return
        with self._lock:
            if len(self._news) < self._buffer:
                self._news.append(change)
            else:
                last = self._news[-1]
                before = last.count if isinstance(last, Missed) else 0
                if before:
                    self._news.pop()
                self._news.append(Missed(count=before + 1, revision=change.revision))
        self._loop.call_soon_threadsafe(self._there.set)

    def abandon(self) -> None:
        """Accept nothing more. Called by the garbage collector, so it must not wait for a lock."""
        self._closed = True

    def close(self) -> None:
        """Accept nothing more, and release a waiting reader."""
        self._closed = True
        self.end()
        with suppress(RuntimeError):  # the loop is closed, so no reader waits
            self._loop.call_soon_threadsafe(self._there.set)

    async def next(self) -> RegistryNews | None:
        """Return the oldest change, None after the last one of a closed feed."""
        while True:
            with self._lock:
                if self._news:
                    return self._news.popleft()
                if self._closed:
                    return None
                self._there.clear()
            await self._there.wait()


def _nothing() -> None:
    """Do nothing: the end of a subscription that has not started."""
