"""One engine with the rules of one workload: its verdicts, and how long each takes."""

from __future__ import annotations

from time import monotonic
from typing import Any

from bench import workload
from bench.subjects import engine
from bench.timing import Round, going_round, per_call, timed


class Deciding:
    """An engine that has loaded the workload's rules."""

    def __init__(self, name: str, profile: str, n: int) -> None:
        self.engine = engine(name)
        self.engine.tools = [tool for tool, _ in workload.universe(n, profile)]
        self.known = frozenset(self.engine.tools)
        self.source = self.engine.translate(workload.make_rules(n, profile=profile))
        self.requests = workload.make_requests(n, profile=profile)
        self.coming = going_round(self.requests)

    def load(self) -> float:
        """Load the rules; return how long it took, in seconds."""
        return timed(lambda: self.engine.load(self.source)) / 1e9

    def check(self, seconds: float) -> dict[str, list[Any]]:
        """Return the verdicts on the requests, as many as there is time for.

        `first` are the nanoseconds of each tool's first decision, which may have to prepare it.
        """
        end = monotonic() + seconds
        said: list[str] = []
        first: dict[str, int] = {}
        for request in self.requests:
            taken = timed(lambda request=request: said.append(_verdict(self.engine, request)))  # type: ignore[misc]
            if request["tool"] in self.known:
                first.setdefault(request["tool"], taken)
            if monotonic() > end:
                break
        return {"said": said, "first": list(first.values())}

    def round(self, seconds: float) -> Round:
        """Return how long decisions take."""
        return {"decide": per_call(self.engine.decide, self.coming, seconds=seconds)}


def _verdict(asked: Any, request: dict[str, Any]) -> str:
    try:
        return str(asked.decide(request))
    except Exception as error:  # noqa: BLE001 (an engine that fails on a request disagrees)
        return f"{type(error).__name__}: {error}"[:120]
