"""An empty tool under a policy of one rule: what stands between a call and its handler."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import policy
from bench.timing import Round
from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved
from policy.audit import MemorySink
from policy.catalog import Origin, ToolSpec
from policy.service import SqliteSessionLog
from policy.tools import ExecutionContext, ToolDefinition

_RULES = """policy for every agent

default deny

small: allow count, undeclared when input.size < 100
asked: allow careful with approval
"""
_LIMIT = "few: limit count to 1_000_000 per hour per session\n"
WRAPPERS = "five empty wrappers"
LAYERS = "through the five layers"
_WAITING = 1_000
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


class Wrapper:
    """A layer that does nothing: what any middleware costs."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def execute(self, name: str, input: Any) -> Any:
        """Await the next one."""
        return await self.inner.execute(name, input)


class Nothing:
    """The end of a chain of wrappers."""

    async def execute(self, name: str, input: Any) -> Any:
        """Return at once."""
        return None


class Later:
    """An approver whose answers come all at once; `full` is set once as many wait as are wanted."""

    def __init__(self) -> None:
        self.full = asyncio.Event()
        self.waiting: list[asyncio.Future[ApprovalOutcome]] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Wait."""
        answer: asyncio.Future[ApprovalOutcome] = asyncio.get_running_loop().create_future()
        self.waiting.append(answer)
        if len(self.waiting) == _WAITING:
            self.full.set()
        return await answer

    def release(self) -> None:
        """Approve everything."""
        for answer in self.waiting:
            answer.set_result(Approved(by="bench"))
        self.waiting = []


class Enforcing:
    """The tool awaited directly, decided about alone, and called through the service."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        Path(self.folder.name, "bench.policy").write_text(_RULES)
        self.handler = Empty("count", complete=True)
        # Its texts may be paths for all that anybody said, and are held against what no tool may
        # write.
        undeclared = Empty("undeclared", complete=False)
        tools = [self.handler, undeclared, Empty("careful", complete=True)]
        catalog = policy.builtin_catalog().with_tools(tool.spec for tool in tools)
        self.store = policy.PolicyStore(self.folder.name, catalog=catalog)
        assert self.store.current is not None, self.store.status.diagnostics
        self.plain = policy.build_tool_service(self.store, tools=tools)
        self.wrappers: Any = Nothing()
        for _ in range(5):
            self.wrappers = Wrapper(self.wrappers)
        self.later = Later()
        self.asking = policy.build_tool_service(
            self.store, tools=tools, approver=self.later, asks_per_session=1_000_000_000
        )
        self.recorded = policy.build_tool_service(self.store, tools=tools, audit=MemorySink())
        # A policy of its own: under one with a limit, every call is asked about limits.
        self.limited_folder = tempfile.TemporaryDirectory()
        Path(self.limited_folder.name, "rules").mkdir()
        Path(self.limited_folder.name, "rules", "bench.policy").write_text(_RULES + _LIMIT)
        limited = policy.PolicyStore(Path(self.limited_folder.name, "rules"), catalog=catalog)
        self.limited = policy.build_tool_service(limited, tools=tools)
        shared = SqliteSessionLog(Path(self.limited_folder.name, "history.sqlite"))
        self.shared = policy.build_tool_service(limited, tools=tools, sessions=shared)

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
            WRAPPERS: lambda: self.wrappers.execute("count", _INPUT),
            LAYERS: lambda: self.plain.execute("count", _INPUT),
            "through them, with a record": lambda: self.recorded.execute("count", _INPUT),
            "through them, under a limit": lambda: self.limited.execute("count", _INPUT),
            "through them, under a limit kept in a file": lambda: self.shared.execute(
                "count", _INPUT
            ),
            "through them, effects undeclared": lambda: self.plain.execute("undeclared", _INPUT),
        }
        share = seconds / (len(ways) + 1)
        taken = {name: await _per_call(way, share) for name, way in ways.items()}
        return taken | {"asked, approved and run, 1,000 at once": [await self._waiting()]}

    async def _waiting(self) -> int:
        """Return how long one of many calls takes that wait for an answer together."""
        self.later.full = asyncio.Event()
        threads = threading.active_count()
        before = perf_counter_ns()
        calls = [
            asyncio.ensure_future(self.asking.execute("careful", {"name": "x", "size": number}))
            for number in range(_WAITING)
        ]
        await self.later.full.wait()
        assert threading.active_count() == threads, "a call that waits costs a thread"
        self.later.release()
        await asyncio.gather(*calls)
        return (perf_counter_ns() - before) // _WAITING


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
