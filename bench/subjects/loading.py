"""One engine that loads one set of rules, once: how long, and how much memory it takes for good.

A process loads one set only, so that nothing is known of it before, and what a process does once
in its life (importing, reading the grammar's tables) is done on another set of two rules.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import policy
from bench import peers_adapter, workload
from bench.folders import files_of, tools_of, write_folder
from bench.subjects import engine
from bench.timing import timed

_PAGE = os.sysconf("SC_PAGE_SIZE")
_STATM = Path("/proc/self/statm")


class Loading:
    """An engine and n rules, not loaded yet; for Placet as a folder of files."""

    def __init__(self, name: str, n: int) -> None:
        self.name = name
        self.engine = engine(name)
        self.engine.tools = tools_of(n)
        self.folder = tempfile.TemporaryDirectory()
        self.place = Path(self.folder.name, "rules")
        small = workload.make_rules(2, seed=3)
        self.requests = _each_tool(n)
        if name == "placet":
            self._warm(small)
            rules = workload.make_rules(n)
            write_folder(self.place, rules, files=files_of(n))
            self.catalog = peers_adapter.catalog_of(self.engine.tools)
        else:
            self.engine.load(self.engine.translate(small))
            self.source = self.engine.translate(workload.make_rules(n))

    def load(self) -> dict[str, Any]:
        """Load; return the nanoseconds of that, and of that and one decision, and the memory."""
        before = _resident()
        if self.name == "placet":
            loading = timed(self._load)
        else:
            loading = timed(lambda: self.engine.load(self.source))
            del self.source
        deciding = timed(lambda: self.engine.decide(self.requests[0]))
        self.before = before
        return {"load": loading, "decided": loading + deciding, "megabytes": self._grown()}

    def call_all(self, most: int) -> float:
        """Return the megabytes that it has grown by once every tool was called, or `most` were."""
        for request in self.requests[:most]:
            self.engine.decide(request)
        return self._grown()

    def _load(self) -> None:
        self.engine.use(_load(self.place, self.catalog))

    def _warm(self, rules: list[dict[str, Any]]) -> None:
        place = Path(self.folder.name, "small")
        write_folder(place, rules, files=1)
        tools = self.engine.tools
        generation = _load(place, peers_adapter.catalog_of(tools[:2]))
        generation.answer(tools[0], {}).decision  # noqa: B018 (what the first decision imports)

    def _grown(self) -> float:
        gc.collect()
        return (_resident() - self.before) / 1e6


def _load(place: Path, catalog: policy.Catalog) -> policy.Generation:
    return policy.load(place, catalog=catalog)


def _each_tool(n: int) -> list[dict[str, Any]]:
    """Return a request for each tool, with arguments of its kind."""
    universe = workload.universe(n)
    kinds = dict(universe)
    drawn: dict[str, dict[str, Any]] = {}
    for request in workload.make_requests(n):
        if request["tool"] in kinds:
            drawn.setdefault(kinds[request["tool"]], request)
    other = next(iter(drawn.values()))
    return [{**drawn.get(kind, other), "tool": tool} for tool, kind in universe]


def _resident() -> int:
    """Return the bytes of memory that this process holds; without `/proc`, the most it held."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * _PAGE
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
