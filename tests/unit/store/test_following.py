"""Files that are edited while a store watches them."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from policy.model import Verdict
from policy.store import PolicyStore, Reloaded, Status
from tests.unit.store.opened import BROKEN, folder_of_rules, rules, verdict
from tests.waiting import PATIENCE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of_rules(tmp_path)


@asynccontextmanager
async def watched(path: Path) -> AsyncIterator[tuple[PolicyStore, Waiter]]:
    """Watch with events alone."""
    store = PolicyStore(path, settle=0.05, poll=3600.0)
    waiter = Waiter(store)
    async with asyncio.timeout(PATIENCE), store.watch():
        yield store, waiter


class Waiter:
    """Waits for a status or a verdict, woken by the store's events."""

    def __init__(self, store: PolicyStore) -> None:
        self.store = store
        self.loop = asyncio.get_running_loop()
        self.woken = asyncio.Event()
        store.subscribe(self.wake)

    def wake(self, _: Reloaded) -> None:
        self.loop.call_soon_threadsafe(self.woken.set)

    async def until(self, fits: Callable[[Status], bool]) -> None:
        while not fits(self.store.status):
            await self.woken.wait()
            self.woken.clear()

    async def until_verdict(self, wanted: Verdict) -> None:
        await self.until(lambda _: verdict(self.store) is wanted)


def replace(path: Path, text: str) -> None:
    path.with_suffix(".tmp").write_text(text)
    os.replace(path.with_suffix(".tmp"), path)


async def test_every_save_takes_effect_while_watching(folder: Path) -> None:
    async with watched(folder) as (_, waiter):
        for save in (lambda p, t: p.write_text(t), replace):
            for wanted in (Verdict.ALLOW, Verdict.ASK, Verdict.DENY):
                save(folder / "global.policy", rules(wanted))
                await waiter.until_verdict(wanted)


async def test_a_burst_ends_in_its_last_save(folder: Path) -> None:
    async with watched(folder) as (store, waiter):
        for _ in range(50):
            (folder / "global.policy").write_text(rules("ask"))
            (folder / "global.policy").write_text(rules("deny"))
        (folder / "global.policy").write_text(rules("allow"))
        await waiter.until_verdict(Verdict.ALLOW)
        assert not store.status.stale


async def test_watching_sees_damage_and_repair(folder: Path) -> None:
    async with watched(folder) as (store, waiter):
        (folder / "global.policy").write_text(BROKEN)
        await waiter.until(lambda status: status.stale)
        assert verdict(store) is Verdict.DENY
        shutil.rmtree(folder)
        await waiter.until(lambda s: s.because is not None and "does not exist" in s.because)
        os.mkdir(folder)
        replace(folder / "global.policy", rules("allow"))
        await waiter.until_verdict(Verdict.ALLOW)
        assert not store.status.stale


async def test_an_edit_between_loading_and_watching_is_not_missed(folder: Path) -> None:
    store = PolicyStore(folder, poll=3600.0)
    replace(folder / "global.policy", rules("allow"))
    async with store.watch():
        assert verdict(store) is Verdict.ALLOW


async def test_a_swapped_mount_takes_effect(tmp_path: Path) -> None:
    root = tmp_path / "mount"
    for name in ("deny", "allow", "ask"):
        (root / f"..{name}").mkdir(parents=True)
        (root / f"..{name}/global.policy").write_text(rules(name))
    (root / "..data").symlink_to("..deny")
    (root / "global.policy").symlink_to("..data/global.policy")
    async with watched(root) as (_, waiter):
        for wanted in (Verdict.ALLOW, Verdict.ASK):
            (root / "..tmp").symlink_to(f"..{wanted}")
            os.replace(root / "..tmp", root / "..data")
            await waiter.until_verdict(wanted)


async def test_the_end_of_watching_leaves_the_policy_in_force(folder: Path) -> None:
    before = asyncio.all_tasks()
    async with watched(folder) as (store, _):
        pass
    assert asyncio.all_tasks() == before
    assert verdict(store) is Verdict.DENY
    (folder / "global.policy").write_text(rules("allow"))
    assert store.reload().changed


async def test_the_block_that_watches_may_be_cancelled(folder: Path) -> None:
    entered = asyncio.Event()

    async def serve() -> None:
        async with PolicyStore(folder).watch():
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(serve())
    await asyncio.wait_for(entered.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
