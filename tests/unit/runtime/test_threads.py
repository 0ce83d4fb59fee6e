"""Threads for blocking work: bounded, named, and not waited for at exit."""

from __future__ import annotations

import ast
import asyncio
import contextvars
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.runtime import NoThreadFree, Threads, acting_for

PATIENCE = 30.0  # seconds until a test gives up


async def test_results_errors_and_the_context_come_through() -> None:
    variable = contextvars.ContextVar("variable", default="")
    variable.set("mine")
    threads = Threads("tests", most=1)
    assert await threads.run(variable.get) == "mine"
    with pytest.raises(KeyError):
        await threads.run({}.__getitem__, "x")
    with pytest.raises(RuntimeError, match="StopIteration"):
        await threads.run(next, iter(()))


async def test_what_finds_no_thread_in_time_is_told_so() -> None:
    go = threading.Event()
    threads = Threads("tests", most=2, patience=0.05)
    busy = [asyncio.create_task(threads.run(go.wait, PATIENCE)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(NoThreadFree, match="all 2 threads for tests are busy"):
        await threads.run(int)
    go.set()
    assert await asyncio.gather(*busy) == [True, True]
    assert await threads.run(int) == 0


async def test_work_that_outlives_its_call_keeps_its_place() -> None:
    go = threading.Event()
    threads = Threads("tests", most=1, patience=0.05)
    call = asyncio.create_task(threads.run(go.wait, PATIENCE))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    with pytest.raises(NoThreadFree):
        await threads.run(int)
    go.set()
    assert await Threads("tests", most=1).run(int) == 0


async def test_whoever_waits_gets_the_next_thread_that_comes_free() -> None:
    go = threading.Event()
    threads = Threads("tests", most=1)
    first = asyncio.create_task(threads.run(go.wait, PATIENCE))
    second = asyncio.create_task(threads.run(int))
    await asyncio.sleep(0)
    go.set()
    async with asyncio.timeout(PATIENCE):
        assert [await first, await second] == [True, 0]


async def test_one_caller_cannot_take_all_threads_that_callers_share() -> None:
    go = threading.Event()
    threads = Threads("tests", most=4, patience=PATIENCE, fair=True)

    async def run(owner: str, function: Any, *arguments: Any) -> Any:
        with acting_for(owner):
            return await threads.run(function, *arguments)

    greedy = [asyncio.create_task(run("greedy", go.wait, PATIENCE)) for _ in range(9)]
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        assert [await run(owner, int) for owner in ("ada", "bob", "ada")] == [0, 0, 0]
    assert not any(task.done() for task in greedy)
    go.set()
    assert await asyncio.gather(*greedy) == [True] * 9


async def test_callers_who_wait_take_turns() -> None:
    go, order = threading.Event(), list[str]()
    threads = Threads("tests", most=1, fair=True)

    async def run(owner: str, function: Any, *arguments: Any) -> None:
        with acting_for(owner):
            await threads.run(function, *arguments)

    first = asyncio.create_task(run("greedy", go.wait, PATIENCE))
    await asyncio.sleep(0)
    wanted = ("greedy", "greedy", "greedy", "ada", "bob")
    others = [asyncio.create_task(run(owner, order.append, owner)) for owner in wanted]
    await asyncio.sleep(0)
    others[0].cancel()
    go.set()
    await asyncio.gather(first, *others, return_exceptions=True)
    assert order == ["greedy", "ada", "bob", "greedy"]


async def test_what_waits_for_a_thread_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy.runtime.threads._MOST_WAITING", 2)
    go = threading.Event()
    threads = Threads("tests", most=1)
    busy = [asyncio.create_task(threads.run(go.wait, PATIENCE)) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(NoThreadFree, match="2 calls of one caller wait already"):
        await threads.run(int)
    go.set()
    assert await asyncio.gather(*busy) == [True] * 3


def test_a_process_ends_although_work_does_not() -> None:
    script = """
import asyncio, threading
from policy.runtime import Threads

async def main():
    begun = threading.Event()
    def hang():
        begun.set()
        threading.Event().wait()
    asyncio.create_task(Threads("tests", most=1).run(hang))
    while not begun.is_set():
        await asyncio.sleep(0)

asyncio.run(main())
"""
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", script], check=True, timeout=PATIENCE, cwd=root)


def test_nothing_uses_the_pool_that_is_one_for_everything() -> None:
    """What a call waits in must never be what a reload needs."""
    shared = {"to_thread", "getaddrinfo", "getnameinfo", "set_default_executor"}
    found = []
    for file in Path(policy.__file__).parent.rglob("*.py"):
        text = file.read_text("utf-8")
        if not any(name in text for name in (*shared, "run_in_executor")):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            of = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            default = node.func.attr == "run_in_executor" and (
                isinstance(node.args[0], ast.Constant) and node.args[0].value is None
            )
            if default or (node.func.attr in shared and of != "socket"):
                found.append(f"{file.name}:{node.lineno}")
    assert found == []
