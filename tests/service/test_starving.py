"""An edit takes effect even while calls occupy every thread that they can get."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore
from policy.audit import MemorySink
from policy.generation import signature
from policy.model import PermissionDenied
from policy.service import GovernedService, build_tool_service
from policy.store import Reloaded
from policy.tools import tool

LIMIT = 60.0  # seconds; each of the calls below would last longer than a test may
OPEN = """\
policy for every agent

default deny
wait: allow wait_here, spin_here
look: allow web_fetch when connects only to "*.example"
keep: deny web_fetch when connects to [private]
read: allow file_read when reads only workspace
"""
SHUT = "policy for every agent\n\ndefault deny\n"


class Busy:
    """Tools that go on until they are told to stop."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.enough = threading.Semaphore(0)

    def wait_here(self) -> str:
        """Wait for somebody."""
        self.enough.release()
        self.stop.wait(LIMIT)
        return "done"

    async def are_running(self, count: int) -> None:
        """Return once so many run."""

        def enough() -> bool:
            return all(self.enough.acquire(timeout=LIMIT / 2) for _ in range(count))

        assert await asyncio.to_thread(enough)

    def spin_here(self) -> str:
        """Compute, in Python, without end."""
        self.enough.release()
        while not self.stop.is_set():
            sum(range(1_000))
        return "done"


@pytest.fixture
def busy() -> Iterator[Busy]:
    one = Busy()
    yield one
    one.stop.set()


@asynccontextmanager
async def served(folder: Path, busy: Busy) -> AsyncIterator[tuple[PolicyStore, GovernedService]]:
    (folder / "rules").mkdir()
    (folder / "rules" / "global.policy").write_text(OPEN)
    (folder / "work").mkdir()
    store = PolicyStore(folder / "rules")
    service = build_tool_service(
        store,
        tools=[tool(busy.wait_here), tool(busy.spin_here)],
        audit=MemorySink(),
        workspace=folder / "work",
    )
    assert store.current is not None and not store.status.stale, store.status
    async with store.watch():
        yield store, service


@contextmanager
def next_generation(store: PolicyStore) -> Iterator[asyncio.Event]:
    """Give what is set once another generation is in force."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()

    def heard(outcome: Reloaded) -> None:
        if outcome.changed:
            loop.call_soon_threadsafe(event.set)

    stop = store.subscribe(heard)
    try:
        yield event
    finally:
        stop()


async def edited_meanwhile(folder: Path, store: PolicyStore, service: GovernedService) -> None:
    """Take back what is allowed, and see that it is in force while everything is busy."""
    with next_generation(store) as changed:
        (folder / "rules" / "global.policy").write_text(SHUT)
        async with asyncio.timeout(LIMIT / 2):
            await changed.wait()
    with pytest.raises(PermissionDenied):
        await service.execute("file_read", {"path": "a"})


def calls(service: GovernedService, name: str, *inputs: dict[str, Any]) -> list[asyncio.Task[Any]]:
    return [asyncio.create_task(service.execute(name, input)) for input in inputs]


async def ended(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("name", "count"), [("wait_here", 200), pytest.param("spin_here", 12, marks=pytest.mark.long)]
)
async def test_an_edit_takes_force_beside_tools_that_block(
    tmp_path: Path, busy: Busy, name: str, count: int
) -> None:
    async with served(tmp_path, busy) as (store, service):
        tasks = calls(service, name, *({} for _ in range(count)))
        await busy.are_running(min(count, 16))
        await edited_meanwhile(tmp_path, store, service)
        assert not busy.stop.is_set()
        await ended(tasks)


async def test_an_edit_takes_force_beside_names_that_are_slow_to_look_up(
    tmp_path: Path, busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*_: object, **__: object) -> list[Any]:
        busy.wait_here()
        raise socket.gaierror("nobody knows")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    async with served(tmp_path, busy) as (store, service):
        urls = [{"url": f"http://h{number}.example/"} for number in range(200)]
        tasks = calls(service, "web_fetch", *urls)
        await busy.are_running(32)
        await edited_meanwhile(tmp_path, store, service)
        assert not busy.stop.is_set()
        await ended(tasks)


async def test_a_policy_that_nobody_came_to_look_at_is_stale(tmp_path: Path) -> None:
    (tmp_path / "global.policy").write_text(OPEN)
    passed = [100.0]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    store = PolicyStore(tmp_path, poll=3600.0, ticks=lambda: passed[0], clock=lambda: now)

    def stale_after(seconds: float) -> bool:
        passed[0] += seconds
        return store.status.stale

    # Nobody watches: whoever holds the store reloads when they like.
    assert not stale_after(1_000_000)
    async with store.watch():
        assert not stale_after(5 * 3600)
        assert stale_after(1)
        assert store.status.because == "the files could not be looked at since"
        assert "stale since 2026-01-01T00:00:00Z" in str(store.status)
        store.reload()
        assert not stale_after(0)


async def test_a_look_that_hangs_is_told_and_so_is_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "global.policy").write_text(OPEN)
    monkeypatch.setattr("policy.store.following._OVERDUE", 0.2)
    loop, go, told = asyncio.get_running_loop(), threading.Event(), asyncio.Queue[Reloaded]()
    store = PolicyStore(tmp_path, poll=0.01)

    def heard(outcome: Reloaded) -> None:
        loop.call_soon_threadsafe(told.put_nowait, outcome)

    def hanging(path: str) -> object:
        go.wait(LIMIT)
        return signature(path)

    async with asyncio.timeout(LIMIT), store.watch():
        store.subscribe(heard)
        monkeypatch.setattr("policy.store.watcher.signature", hanging)
        assert (await told.get()).status.stale
        assert store.status.stale
        monkeypatch.setattr("policy.store.following._OVERDUE", LIMIT)
        go.set()
        assert not (await told.get()).status.stale
        assert not store.status.stale
