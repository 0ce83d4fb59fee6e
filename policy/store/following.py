"""Follows the files of a store, and reports when they were not read in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from policy.runtime import Threads
from policy.store.publisher import Publisher
from policy.store.status import Reloaded, Status
from policy.store.watcher import watch_path

# The generation in force counts as stale if the files were not read for this many polls, or for
# this many seconds if that is longer.
_POLLS_MISSED = 5
_OVERDUE = 5.0
_NOT_READ = "the files could not be looked at since"
_PROVING = "the claims of an edit are being proved since"
_COMPARING = "an edit is being compared with what is in force since"


class Follower:
    """Reloads whenever files change. `poll` is how often they are compared without an event."""

    def __init__(
        self, path: str, publisher: Publisher, *, poll: float, ticks: Callable[[], float]
    ) -> None:
        self._path = path
        self._publisher = publisher
        self._poll = poll
        self._ticks = ticks
        self._following = 0
        # Reloading has its own thread, so that calls of tools cannot delay it; nor do comparisons.
        self._thread = Threads("reloading", most=1)
        self._comparing = Threads("comparing", most=1)

    def status(self) -> Status:
        """Return the status, stale also if files that are followed were not read for too long."""
        status = self._publisher.in_force.status
        if status.stale or not self._is_overdue():
            return status
        because = _NOT_READ
        if self._publisher.is_proving:
            because = _PROVING
        elif self._publisher.is_comparing:
            because = _COMPARING
        return replace(status, stale_since=self._publisher.last_read[1], because=because)

    @property
    def is_following(self) -> bool:
        """Whether edits are followed now, and compared once they have taken effect."""
        return self._following > 0

    @asynccontextmanager
    async def follow(self) -> AsyncIterator[None]:
        """Reload in the background whenever the files change, until the block ends."""
        ready, comparisons = asyncio.Event(), _Comparisons(self._publisher, self._comparing)

        async def reload() -> None:
            comparisons.begin(await self._reloaded_in_thread())

        watching = asyncio.create_task(
            watch_path(
                self._path,
                reload,
                poll=self._poll,
                ready=ready,
                unchanged=self._publisher.found_unchanged,
                due=self._publisher.is_due,
                ticks=self._ticks,
            )
        )
        listening = asyncio.create_task(ready.wait())
        timing = asyncio.create_task(self._notify_when_overdue())
        try:
            await asyncio.wait((watching, listening), return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                await watching
            # For changes between the last load and the start of listening.
            await reload()
            self._following += 1
            try:
                yield
            finally:
                self._following -= 1
        finally:
            for task in (listening, watching, timing):
                task.cancel()
            await asyncio.gather(listening, watching, timing, return_exceptions=True)
            await comparisons.end()

    async def _reloaded_in_thread(self) -> Reloaded:
        """Reload in a thread, so that calls are still served; cancelling waits for its end."""
        work = asyncio.ensure_future(self._thread.run(self._publisher.read_and_notify))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await work
            raise

    @property
    def _patience(self) -> float:
        return max(_OVERDUE, _POLLS_MISSED * self._poll)

    def _is_overdue(self) -> bool:
        since = self._ticks() - self._publisher.last_read[0]
        return self._following > 0 and since > self._patience

    async def _notify_when_overdue(self) -> None:
        """Notify subscribers when the files were not read in time, and when they are again."""
        was_overdue, before = False, self._publisher.in_force.status.published
        while True:
            await asyncio.sleep(self._patience / 4)
            now, status = self._publisher.in_force, self.status()
            read = now.status.published
            is_overdue = status.because in (_NOT_READ, _PROVING, _COMPARING)
            # A reload in between has notified subscribers itself.
            if is_overdue != was_overdue and (is_overdue or read == before):
                self._publisher.subscribers.notify(
                    Reloaded(
                        changed=False,
                        generation=now.generation,
                        diagnostics=status.diagnostics,
                        status=status,
                        milliseconds=0.0,
                    )
                )
            was_overdue, before = is_overdue, read


class _Comparisons:
    """The comparisons of edits that took effect while a store was followed."""

    def __init__(self, publisher: Publisher, thread: Threads) -> None:
        self._publisher = publisher
        self._thread = thread
        self._running: set[asyncio.Future[Reloaded]] = set()
        self._is_ended = False

    def begin(self, outcome: Reloaded) -> None:
        """Compare what took effect, if that is still to be done, while edits are followed."""
        if not self._publisher.has_to_compare:
            return
        compare = partial(self._publisher.compared, outcome, is_wanted=lambda: not self._is_ended)
        work = asyncio.ensure_future(self._thread.run(compare))
        self._running.add(work)
        work.add_done_callback(self._running.discard)

    async def end(self) -> None:
        """End what is being compared."""
        self._is_ended = True
        await asyncio.gather(*self._running, return_exceptions=True)
