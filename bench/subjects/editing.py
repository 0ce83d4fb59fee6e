"""A folder of rules, watched or not, in which one rule is edited: how long until it decides."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from time import perf_counter_ns

import policy
from bench import peers_adapter, workload
from bench.folders import text_of, tools_of, write_folder
from bench.timing import Round
from policy.store.watcher import watch_path

_PATIENCE = 60  # seconds
_POLL = 5.0  # seconds; far from what an event takes


class Editing:
    """A folder of n rules in so many files, and a store that is told or watches."""

    def __init__(self, n: int, files: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.rules = workload.make_rules(n)
        self.each = -(-n // files)
        catalog = peers_adapter.catalog_of(tools_of(n))
        self.request = next(req for req in workload.make_requests(n) if catalog.get(req["tool"]))
        self.number = count()
        self.told = self._written("told", files)
        self.watched = self._written("watched", files)
        self.seen = self._written("seen", files)
        self.store = policy.PolicyStore(self.told[0].parent, catalog=catalog)
        self.watching = policy.PolicyStore(self.watched[0].parent, catalog=catalog, poll=_POLL)
        for store in (self.store, self.watching):
            assert store.current is not None, store.status.because
        self.swapped, self.noticed = threading.Event(), threading.Event()
        self.watching.subscribe(lambda told: self.swapped.set() if told.changed else None)
        _in_thread(self._watch_store)
        _in_thread(self._watch_only)

    def round(self, seconds: float, *, saves: int = 2) -> Round:
        """Return the nanoseconds of each way of taking a save in.

        `reload` is from the save, with an explicit reload, to the end of the first decision by the
        new rule, which is before the reload has compared it with the old one; `event` from the save
        to a watcher's word that something changed; `watched` is everything.
        """
        return {
            "reload": [self._told() for _ in range(saves)],
            "event": [self._noticed() for _ in range(saves)],
            "watched": [self._watched() for _ in range(saves)],
        }

    def _told(self) -> int:
        taken: list[int] = []
        started = self._save(self.told)
        stop = self.store.subscribe(lambda _: taken.append(self._decided(self.store, started)))
        assert self.store.reload().changed, self.store.status.because
        stop()
        return taken[0]

    def _noticed(self) -> int:
        self.noticed.clear()
        started = self._save(self.seen)
        assert self.noticed.wait(_PATIENCE)
        return perf_counter_ns() - started

    def _watched(self) -> int:
        self.swapped.clear()
        started = self._save(self.watched)
        assert self.swapped.wait(_PATIENCE), self.watching.status.because
        return self._decided(self.watching, started)

    def _decided(self, store: policy.PolicyStore, started: int) -> int:
        answer = store.answer(self.request["tool"], self.request["args"])
        taken = perf_counter_ns() - started
        assert answer.admitted is not None
        return taken

    def _save(self, files: list[Path]) -> int:
        """Replace one rule in one file by another one; return when."""
        number = next(self.number)
        at = number * 7 % len(files)
        rules = self.rules[at * self.each : (at + 1) * self.each]
        place = number % len(rules)
        new = {**rules[place], "roles": [f"nobody-{number}"]}
        aside = files[at].with_suffix(".new")
        text = text_of([*rules[:place], new, *rules[place + 1 :]], first=not at)
        aside.write_text(text)
        started = perf_counter_ns()
        os.replace(aside, files[at])
        return started

    def _written(self, name: str, files: int) -> list[Path]:
        return write_folder(Path(self.folder.name, name), self.rules, files=files)

    async def _watch_store(self, begun: Callable[[], None]) -> None:
        async with self.watching.watch():
            begun()
            await asyncio.Event().wait()

    async def _watch_only(self, begun: Callable[[], None]) -> None:
        async def changed() -> None:
            self.noticed.set()

        ready = asyncio.Event()
        place = str(self.seen[0].parent)
        watching = asyncio.create_task(watch_path(place, changed, poll=_POLL, ready=ready))
        await ready.wait()
        begun()
        await watching


def _in_thread(watch: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
    """Run `watch` in a thread of its own; return once it has begun."""
    begun = threading.Event()

    async def run() -> None:
        await watch(begun.set)

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    assert begun.wait(_PATIENCE)
