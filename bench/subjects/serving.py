"""A tool service whose rules are watched, called with and without a pause, edited or not."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter_ns

import policy
from bench import peers_adapter, workload
from bench.folders import tools_of, write_folder
from bench.subjects.enforcing import Empty
from bench.timing import Round

IDLE, RELOADING = "nobody edits", "five edits a second"
UNPAUSED = ", without a pause"
_RULES, _FILES, _PER_SECOND = 1_000, 10, 5
_OWN = "policy for every agent\n\nsmall: allow count when input.size < 100\n"
# So many calls are made before others on the event loop have their turn; and seconds in which there
# is nothing to do, of which the system makes a millisecond: some two thirds of what it can do.
_BURST, _PAUSE = 30, 0.0005
# Seconds until the first edit must be in force.
_PATIENCE = 30
_INPUT = {"name": "x", "size": 7}
_MARK = "nobody-0"


class Serving:
    """A service with one tool of its own under many rules of others."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        place = Path(self.folder.name, "rules")
        rules = workload.make_rules(_RULES)
        rules[-1] = {**rules[-1], "roles": [_MARK]}
        files = write_folder(place, rules, files=_FILES)
        (place / "own.policy").write_text(_OWN)
        self.edited = files[-1]
        handler = Empty("count", complete=True)
        catalog = peers_adapter.catalog_of(tools_of(_RULES)).with_tools([handler.spec])
        self.store = policy.PolicyStore(place, catalog=catalog)
        assert self.store.current is not None, self.store.status.because
        self.reloads = 0
        self.store.subscribe(self._told)
        self.service = policy.build_tool_service(self.store, tools=[handler])

    def round(self, seconds: float) -> Round:
        """Return how long calls take; `stalls` is the longest turn of the event loop with edits.

        `quiet stalls` is that without; `reloads` are sets in force a second, times 10^9. What is
        said of calls without a pause has that in its name.
        """
        paused = asyncio.run(self._round(seconds / 2, _PAUSE))
        unpaused = asyncio.run(self._round(seconds / 2, 0.0))
        return paused | {name + UNPAUSED: found for name, found in unpaused.items()}

    async def _round(self, seconds: float, pause: float) -> Round:
        async with self.store.watch():
            idle, quiet = await self._calls(seconds / 2, pause)
            with subprocess.Popen(  # noqa: ASYNC220 (starting it is not measured)
                [sys.executable, "-m", "bench.editor", str(self.edited), _MARK, str(_PER_SECOND)],
                stdin=subprocess.PIPE,
            ) as editor:
                await self._first_reload()
                self.reloads, began = 0, perf_counter_ns()
                reloading, stall = await self._calls(seconds / 2, pause)
                per_second = self.reloads * 10**18 // (perf_counter_ns() - began)
                assert editor.stdin is not None
                editor.stdin.close()
        return {
            IDLE: idle,
            RELOADING: reloading,
            "stalls": [stall],
            "quiet stalls": [quiet],
            "reloads": [per_second],
        }

    async def _first_reload(self) -> None:
        """Wait until edits come in force: the editor's start is no part of what is measured."""
        before = self.reloads
        async with asyncio.timeout(_PATIENCE):
            while self.reloads == before:  # noqa: ASYNC110 (told on a thread of the watcher's)
                await asyncio.sleep(0.01)

    async def _calls(self, seconds: float, pause: float) -> tuple[list[int], int]:
        """Return how long each call takes, and the longest turn of a burst of them."""
        execute = self.service.execute
        gc.collect()
        taken: list[int] = []
        longest = 0
        started = last = perf_counter_ns()
        end = started + int(seconds * 1e9)
        while last < end:
            for _ in range(_BURST):
                before = perf_counter_ns()
                await execute("count", _INPUT)
                taken.append(perf_counter_ns() - before)
            await asyncio.sleep(pause)
            now = perf_counter_ns()
            longest = max(longest, now - last)
            last = now
        return taken, longest

    def _told(self, told: policy.Reloaded) -> None:
        self.reloads += told.changed
