"""Registration of listeners, and delivery of events to each of them in turn."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

Told = TypeVar("Told")

_LOG = logging.getLogger(__name__)


class Listeners(Generic[Told]):
    """The listeners of one type of event; they can be added and removed from any thread."""

    __slots__ = ("_changing", "_listening", "are_there")

    def __init__(self) -> None:
        self._changing = threading.Lock()
        # Replaced as a whole, so that `notify` needs no lock.
        self._listening: Mapping[object, Callable[[Told], object]] = {}
        self.are_there = False

    def __bool__(self) -> bool:
        return self.are_there

    def add(self, listener: Callable[[Told], object]) -> Callable[[], None]:
        """Register `listener`; return a function that removes this registration."""
        entry = object()
        with self._changing:
            self._listening = {**self._listening, entry: listener}
            self.are_there = True

        def end() -> None:
            with self._changing:
                rest = {kept: other for kept, other in self._listening.items() if kept != entry}
                self._listening = rest
                self.are_there = bool(rest)

        return end

    def notify(self, news: Told) -> None:
        """Call every registered listener; an exception is logged and does not stop the others."""
        # Imported here, as in `threads`.
        import asyncio

        for listener in self._listening.values():
            # CancelledError too: it is the listener's error, not a cancellation of this code.
            try:
                listener(news)
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - see above
                _LOG.warning("a listener failed: %s", type(error).__name__)
