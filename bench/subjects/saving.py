"""A policy store that watches a folder, and saves in it: milliseconds until a save decides."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from itertools import count
from pathlib import Path
from time import perf_counter_ns

import policy
from bench import peers_adapter as placet
from bench import workload
from bench.subjects.reading import edited
from bench.timing import Round

_PATIENCE = 60  # seconds


class Saving:
    """A watched folder with one file of n rules."""

    def __init__(self, n: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "bench.policy"
        self.engine = placet.Engine()
        self.engine.tools = [tool for tool, _ in workload.universe(n)]
        self.rules = workload.make_rules(n)
        self.request = workload.make_requests(n, 1)[0]
        self.number = count()
        self.file.write_text(self._text())
        self.store = policy.PolicyStore(
            self.folder.name, catalog=placet.catalog_of(self.engine.tools)
        )
        assert self.store.current is not None, self.store.status.because
        self.swapped = threading.Event()
        self.store.subscribe(lambda reloaded: self.swapped.set() if reloaded.changed else None)
        watched = threading.Event()
        threading.Thread(target=self._watch, args=[watched], daemon=True).start()
        assert watched.wait(_PATIENCE)

    def round(self, seconds: float, *, saves: int = 4) -> Round:
        """Return the time from `os.replace` to the end of the first decision by the new rules."""
        return {"save to effect": [self._save() for _ in range(saves)]}

    def _save(self) -> int:
        aside = self.file.with_suffix(".new")
        aside.write_text(self._text())
        before = self.store.current
        self.swapped.clear()
        started = perf_counter_ns()
        os.replace(aside, self.file)
        assert self.swapped.wait(_PATIENCE), self.store.status.because
        answer = self.store.answer(self.request["tool"], self.request["args"])
        taken = perf_counter_ns() - started
        assert before is not None
        assert answer.decision.generation is not None
        assert answer.decision.generation.number == before.id.number + 1
        return taken

    def _text(self) -> str:
        return self.engine.translate(edited(self.rules, f"nobody-{next(self.number)}"))

    def _watch(self, watched: threading.Event) -> None:
        async def watch() -> None:
            async with self.store.watch():
                watched.set()
                await asyncio.Event().wait()

        asyncio.run(watch())
