"""One engine reading the same rules from text again and again: what any reload takes at least."""

from __future__ import annotations

from itertools import count
from time import perf_counter_ns
from typing import Any

from bench import workload
from bench.subjects import engine
from bench.timing import Round, timed


class Reading:
    """An engine that reads a set in which one rule is another one each time, then decides."""

    def __init__(self, name: str, n: int) -> None:
        self.engine = engine(name)
        self.engine.tools = [tool for tool, _ in workload.universe(n)]
        self.rules = workload.make_rules(n)
        self.request = workload.make_requests(n, 1)[0]
        self.number = count()
        # Grammars and the like are made once a process; see the table of cold starts.
        self.engine.load(self.engine.translate(edited(self.rules[:2], "first")))

    def round(self, seconds: float, *, least: int = 2, most: int = 20) -> Round:
        """Return how long it takes to read the set, and to read it and decide once."""
        end = perf_counter_ns() + int(seconds * 1e9)
        read: list[int] = []
        effective: list[int] = []
        while len(read) < least or (perf_counter_ns() < end and len(read) < most):
            source = self.engine.translate(edited(self.rules, f"nobody-{next(self.number)}"))
            loading = timed(lambda text=source: self.engine.load(text))  # type: ignore[misc]
            deciding = timed(lambda: self.engine.decide(self.request))
            read.append(loading)
            effective.append(loading + deciding)
        return {"read": read, "read and decide": effective}

    def parse(self) -> float | None:
        """Return how long Placet's parser alone takes, in seconds; None for another engine."""
        if self.engine.name != "placet":
            return None
        from policy.source import Source
        from policy.syntax import parse

        text = self.engine.translate(self.rules)
        return timed(lambda: parse(Source(name="bench.policy", text=text))) / 1e9


def edited(rules: list[dict[str, Any]], mark: str) -> list[dict[str, Any]]:
    """Return the rules with one more, which no caller meets and `mark` makes a new one."""
    rule = {"id": "edited", "effect": "deny", "tool": {"glob": "*"}, "roles": [mark], "conds": []}
    return [*rules, rule]
