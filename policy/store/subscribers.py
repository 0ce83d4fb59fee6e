"""Who is notified when the generation in force or its status changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeAlias

from policy.store.status import Reloaded, Status

Subscriber: TypeAlias = Callable[[Reloaded], None]


class Subscribers:
    """Functions to call after a change. `changing` is the lock under which changes are made."""

    def __init__(self, first: Iterable[Subscriber], *, changing: threading.RLock) -> None:
        self._all: tuple[Subscriber, ...] = tuple(first)
        self._changing = changing

    def add(self, callback: Subscriber) -> Callable[[], None]:
        """Add a function to call; return a function that removes it again."""
        with self._changing:
            self._all = (*self._all, callback)

        def stop() -> None:
            with self._changing:
                kept = list(self._all)
                with suppress(ValueError):
                    kept.remove(callback)
                self._all = tuple(kept)

        return stop

    def notify_if_changed(self, outcome: Reloaded, *, before: Status) -> None:
        """Notify all if the generation, or what its status reports, has changed."""
        if outcome.changed or before.published != outcome.status.published:
            self.notify(outcome)

    def notify(self, outcome: Reloaded) -> None:
        """Call all functions, in the order in which they were added."""
        for subscriber in self._all:
            # An error in a subscriber must not stop the policy or the other subscribers.
            with suppress(Exception):
                subscriber(outcome)
