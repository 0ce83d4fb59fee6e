"""A desk in, its changes out to whoever waits for them: futures of calls, and listeners.

The changes of one question are told in their order, each at most once. What is done here is told
at once. While a call waits, one task (in its event loop) looks at the desk for what other processes
changed; otherwise nothing runs.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeAlias

from policy.approvals.filed import Filed
from policy.approvals.store import Desk
from policy.listeners import Listeners

Listener: TypeAlias = Callable[[Filed], None]
# What a call waits for: its question as it ended, or None once its time is up.
Place: TypeAlias = "asyncio.Future[Filed | None]"

# Beyond as many questions a change may be told twice, which does no harm.
_MOST_TOLD = 20_000
_LOG = logging.getLogger("policy.approvals")


class Watch:
    """Follows one desk. It may be used from several threads, each with a loop of its own."""

    def __init__(self, desk: Desk, *, poll: float) -> None:
        self._desk = desk
        self._poll_seconds = poll
        self._lock = threading.Lock()
        self._seen: int | None = None
        self._told: OrderedDict[str, int] = OrderedDict()
        self._places: dict[str, list[Place]] = {}
        self._listeners: Listeners[Filed] = Listeners()
        self._pollers: dict[asyncio.AbstractEventLoop, tuple[asyncio.Task[None], int]] = {}
        self._is_broken = False

    async def begin(self) -> None:
        """Begin with what changes from now on, once."""
        if self._seen is not None:
            return
        revision = await self._desk.revision()
        with self._lock:
            if self._seen is None:
                self._seen = revision

    async def look(self) -> None:
        """Tell what has changed since; a desk that does not answer is asked again later."""
        seen = self._seen or 0
        try:
            changed = await self._desk.since(seen)
        except Exception as error:  # noqa: BLE001 - whatever a desk raises, calls go on waiting
            if not self._is_broken:
                _LOG.warning("the answers to questions cannot be looked up: %s", error)
            self._is_broken = True
            return
        self._is_broken = False
        for filed in changed:
            self.tell(filed)
        with self._lock:
            self._seen = max((filed.revision for filed in changed), default=seen)

    def tell(self, filed: Filed) -> None:
        """Tell of one question as it is now, unless that was told before."""
        id = filed.request.id
        with self._lock:
            if self._told.get(id, 0) >= filed.revision:
                return
            self._told[id] = filed.revision
            self._told.move_to_end(id)
            while len(self._told) > _MOST_TOLD:
                self._told.popitem(last=False)
            places = tuple(self._places.get(id, ()))
        for place in places if filed.state != "pending" else ():
            _resolve(place, filed)
        self._listeners.tell(filed)

    def is_old(self, filed: Filed) -> bool:
        """Tell whether a question has changed since."""
        return self._told.get(filed.request.id, 0) > filed.revision

    @contextmanager
    def waiting(self, id: str) -> Iterator[Place]:
        """Give a place to wait for the end of one question, for as long as it is waited for."""
        place: Place = asyncio.get_running_loop().create_future()
        with self._lock:
            self._places.setdefault(id, []).append(place)
        with self._polling():
            try:
                yield place
            finally:
                self._leave(id, place)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` of every change; return what ends that."""
        return self._listeners.add(listener)

    def _leave(self, id: str, place: Place) -> None:
        with self._lock:
            places = self._places[id]
            places.remove(place)
            if not places:
                del self._places[id]

    @contextmanager
    def _polling(self) -> Iterator[None]:
        """Let one task of this event loop look at the desk, while any of its calls waits."""
        loop = asyncio.get_running_loop()
        task, waiting = self._pollers.get(loop) or (loop.create_task(self._poll()), 0)
        self._pollers[loop] = (task, waiting + 1)
        try:
            yield
        finally:
            task, waiting = self._pollers.pop(loop)
            if waiting > 1:
                self._pollers[loop] = (task, waiting - 1)
            else:
                task.cancel()

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            await self.look()


async def answered_within(place: Place, seconds: float | None) -> Filed | None:
    """Wait at a place, and return what it was told; None once the time is up."""
    if seconds is None:
        return await place
    timer = place.get_loop().call_later(max(seconds, 0.0), _settle, place, None)
    try:
        return await place
    finally:
        timer.cancel()


def _resolve(place: Place, filed: Filed) -> None:
    loop = place.get_loop()
    if loop is asyncio.get_running_loop():
        _settle(place, filed)
        return
    # The other loop may have ended meanwhile, and its calls with it.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(_settle, place, filed)


def _settle(place: Place, filed: Filed | None) -> None:
    if not place.done():
        place.set_result(filed)
