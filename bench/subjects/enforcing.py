"""An empty tool under a policy of one rule: what stands between a call and its handler."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import policy
from bench.timing import Round
from policy.audit import MemorySink
from policy.catalog import Origin, ToolSpec
from policy.service import ExecutionContext, ToolDefinition

_RULES = """policy for every agent

default deny

small: allow count, undeclared when input.size < 100
"""
_INPUT = {"name": "x", "size": 7}


class Empty:
    """A handler that counts its calls and does nothing else."""

    def __init__(self, name: str, *, complete: bool) -> None:
        fields = {"name": {"type": "string"}, "size": {"type": "integer"}}
        schema = {"type": "object", "properties": fields, "required": ["name", "size"]}
        self.spec = ToolSpec(name=name, origin=Origin(tool=name), schema=schema, complete=complete)
        self.definition = ToolDefinition(name=name, parameters=schema)
        self.calls = 0

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Count."""
        self.calls += 1
        return None


class Enforcing:
    """The tool awaited directly, decided about alone, and called through the service."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        Path(self.folder.name, "bench.policy").write_text(_RULES)
        self.handler = Empty("count", complete=True)
        # Its texts may be paths for all that anybody said, and are held against what no tool may
        # write.
        undeclared = Empty("undeclared", complete=False)
        tools = [self.handler, undeclared]
        catalog = policy.builtin_catalog().with_tools(tool.spec for tool in tools)
        self.store = policy.PolicyStore(self.folder.name, catalog=catalog)
        assert self.store.current is not None, self.store.status.diagnostics
        self.plain = policy.build_tool_service(self.store, tools=tools)
        self.recorded = policy.build_tool_service(self.store, tools=tools, audit=MemorySink())

    def round(self, seconds: float) -> Round:
        """Return how long each way takes; every way but the decision reaches the handler."""
        return asyncio.run(self._round(seconds))

    async def _round(self, seconds: float) -> Round:
        store, handler = self.store, self.handler
        context = ExecutionContext()

        async def decided() -> None:
            assert store.answer("count", _INPUT).decision.verdict is policy.Verdict.ALLOW

        ways: dict[str, Callable[[], Awaitable[Any]]] = {
            "the handler, awaited directly": lambda: handler.invoke(dict(_INPUT), context),
            "the decision alone": decided,
            "through the five layers": lambda: self.plain.execute("count", _INPUT),
            "through them, with a record": lambda: self.recorded.execute("count", _INPUT),
            "through them, effects undeclared": lambda: self.plain.execute("undeclared", _INPUT),
        }
        return {name: await _per_call(way, seconds / len(ways)) for name, way in ways.items()}


async def _per_call(
    way: Callable[[], Awaitable[Any]], seconds: float, most: int = 1_000
) -> list[int]:
    gc.collect()
    end = perf_counter_ns() + int(seconds * 1e9)
    taken: list[int] = []
    while len(taken) < most:
        before = perf_counter_ns()
        await way()
        after = perf_counter_ns()
        taken.append(after - before)
        if after > end:
            break
    return taken
