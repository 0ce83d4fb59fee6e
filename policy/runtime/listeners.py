"""Those who listen, in; each of them told in turn, whatever the others make of it, out."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

Told = TypeVar("Told")

_LOG = logging.getLogger(__name__)


class Listeners(Generic[Told]):
    """Listeners of one kind of news; they come and go from any thread."""

    __slots__ = ("_changing", "_listening", "are_there")

    def __init__(self) -> None:
        self._changing = threading.Lock()
        # Swapped whole, so that whoever tells needs no lock.
        self._listening: Mapping[object, Callable[[Told], object]] = {}
        self.are_there = False

    def __bool__(self) -> bool:
        return self.are_there

    def add(self, listener: Callable[[Told], object]) -> Callable[[], None]:
        """Tell `listener` from now on; return what ends that, once for each time it was added."""
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

    def tell(self, news: Told) -> None:
        """Tell everybody who listens now; one that fails is logged, and keeps it from nobody."""
        for listener in self._listening.values():
            # A listener that claims to be cancelled has cancelled nothing.
            try:
                listener(news)
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - see above
                _LOG.warning("a listener failed: %s", type(error).__name__)
