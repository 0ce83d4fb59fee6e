"""One engine with the rules of one workload: its verdicts, and how long each takes."""

from __future__ import annotations

from time import monotonic, perf_counter_ns
from typing import Any

from bench import workload
from bench.subjects import engine
from bench.timing import Round, going_round, per_call, timed

DECIDE, RAW = "decide", "decide, raw call"


class Deciding:
    """An engine that has loaded the workload's rules."""

    def __init__(self, name: str, profile: str, n: int) -> None:
        self.engine = engine(name)
        self.engine.tools = [tool for tool, _ in workload.universe(n, profile)]
        self.known = frozenset(self.engine.tools)
        self.source = self.engine.translate(workload.make_rules(n, profile=profile))
        self.requests = workload.make_requests(n, profile=profile)
        self.ways = {DECIDE: self.engine.decide}
        self.coming = {DECIDE: going_round(self.requests)}

    def load(self) -> float:
        """Load the rules; return how long it took, in seconds."""
        taken = timed(lambda: self.engine.load(self.source))
        del self.source
        if self.engine.name == "placet":
            raw = engine("placet, raw call")
            raw.use(self.engine.generation)
            self.ways[RAW] = raw.decide
            self.coming[RAW] = going_round(self.requests)
        return taken / 1e9

    def check(self, seconds: float) -> dict[str, list[Any]]:
        """Return the verdicts on the requests, as many as there is time for.

        `first` are the nanoseconds of each tool's first decision, which may have to prepare it.
        Every way of asking must give the same verdict.
        """
        end = monotonic() + seconds
        said: list[str] = []
        first: dict[str, int] = {}
        for request in self.requests:
            answers = [_answered(do, request) for do in reversed(self.ways.values())]
            verdicts = {verdict for verdict, _ in answers}
            if request["tool"] in self.known:
                first.setdefault(request["tool"], answers[0][1])
            said.append(" and ".join(sorted(verdicts)))
            if monotonic() > end:
                break
        return {"said": said, "first": list(first.values())}

    def round(self, seconds: float) -> Round:
        """Return how long decisions take."""
        share = seconds / len(self.ways)
        return {
            what: per_call(decide, self.coming[what], seconds=share)
            for what, decide in self.ways.items()
        }


def _answered(decide: Any, request: dict[str, Any]) -> tuple[str, int]:
    """Return the verdict and how long it took."""
    before = perf_counter_ns()
    try:
        verdict = str(decide(request))
    except Exception as error:  # noqa: BLE001 (an engine that fails on a request disagrees)
        verdict = f"{type(error).__name__}: {error}"[:120]
    return verdict, perf_counter_ns() - before
