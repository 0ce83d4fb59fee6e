"""Which changes on the disk the watcher notices."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from policy.generation import read_folder
from policy.store.watcher import watch_path
from tests.waiting import PATIENCE


class Seen:
    """What the watcher's callback saw, and a way to wait for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digest = read_folder(path).digest
        self.calls = 0
        self.changed = asyncio.Event()

    async def __call__(self) -> None:
        self.calls += 1
        self.digest = read_folder(self.path).digest
        self.changed.set()

    async def until(self, fits: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not fits():
                await self.changed.wait()
                self.changed.clear()

    async def until_current(self) -> None:
        wanted = read_folder(self.path).digest
        await self.until(lambda: self.digest == wanted)


@asynccontextmanager
async def watching(path: Path, poll: float = 3600.0) -> AsyncIterator[Seen]:
    """Watch with events alone, unless `poll` says otherwise."""
    seen, ready = Seen(path), asyncio.Event()
    task = asyncio.create_task(watch_path(str(path), seen, poll=poll, ready=ready))
    await asyncio.wait_for(ready.wait(), PATIENCE)
    try:
        yield seen
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, PATIENCE)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    root = tmp_path / "above" / "rules"
    root.mkdir(parents=True)
    (root / "a.policy").write_text("1")
    return root


async def test_a_save_in_place_is_seen(rules: Path) -> None:
    async with watching(rules) as seen:
        (rules / "a.policy").write_text("2")
        await seen.until_current()


async def test_a_save_by_renaming_is_seen_every_time(rules: Path) -> None:
    async with watching(rules) as seen:
        for number in range(5):
            (rules / "a.tmp").write_text(f"renamed {number}")
            os.replace(rules / "a.tmp", rules / "a.policy")
            await seen.until_current()


async def test_files_that_come_and_go_are_seen(rules: Path) -> None:
    async with watching(rules) as seen:
        (rules / "deep").mkdir()
        (rules / "deep/b.policy").write_text("1")
        await seen.until_current()
        (rules / "a.policy").unlink()
        await seen.until_current()
        (rules / "a.policy").write_text("again")
        await seen.until_current()
        (rules / "tools.lock").write_text("{}")
        await seen.until_current()


async def test_a_root_that_was_deleted_and_made_again_is_watched(rules: Path) -> None:
    async with watching(rules) as seen:
        shutil.rmtree(rules)
        await seen.until_current()
        os.mkdir(rules)
        (rules / "a.policy").write_text("new")
        await seen.until_current()
        (rules / "a.policy").write_text("newer")
        await seen.until_current()


async def test_a_root_that_is_another_folder_now_is_watched(rules: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(rules, other)
    (other / "a.policy").write_text("other")
    async with watching(rules) as seen:
        os.rename(rules, tmp_path / "old")
        os.rename(other, rules)
        await seen.until_current()
        (rules / "a.policy").write_text("newer")
        await seen.until_current()


async def test_a_root_that_is_a_swapped_link_is_watched(rules: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(rules)
    next_one = tmp_path / "next"
    shutil.copytree(rules, next_one)
    (next_one / "a.policy").write_text("next")
    async with watching(link) as seen:
        (tmp_path / "link.tmp").symlink_to(next_one)
        os.replace(tmp_path / "link.tmp", link)
        await seen.until_current()
        (next_one / "a.policy").write_text("newer")
        await seen.until_current()


async def test_a_swapped_mount_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "mount"
    for version in ("1", "2", "3"):
        (root / f"..{version}").mkdir(parents=True)
        (root / f"..{version}/a.policy").write_text(version)
    (root / "..data").symlink_to("..1")
    (root / "a.policy").symlink_to("..data/a.policy")
    async with watching(root) as seen:
        for version in ("2", "3"):
            (root / "..tmp").symlink_to(f"..{version}")
            os.replace(root / "..tmp", root / "..data")
            await seen.until_current()


async def test_a_single_file_is_watched_with_its_packs(rules: Path) -> None:
    async with watching(rules / "a.policy") as seen:
        os.replace(shutil.copy(rules / "a.policy", rules / "a.tmp"), rules / "a.policy")
        (rules / "a.policy").write_text("2")
        await seen.until_current()
        (rules / "packs").mkdir()
        (rules / "packs/p.policy").write_text("1")
        await seen.until_current()


async def test_polling_alone_sees_what_events_do_not(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("watchfiles.awatch", NoEvents)
    async with watching(rules, poll=0.02) as seen:
        (rules / "a.policy").write_text("2")
        await seen.until_current()


class NoEvents:
    """A watch that the system cannot make."""

    def __init__(self, *_: object, **__: object) -> None:
        raise OSError("this file system tells nothing")


async def test_other_files_wake_nobody(rules: Path) -> None:
    async with watching(rules) as seen:
        for number in range(20):
            (rules / "audit.jsonl").write_text(str(number))
            (rules.parent / "sibling.policy").write_text(str(number))
        # Events keep their order, so those of the other files have been handed on by then.
        (rules / "a.policy").write_text("2")
        await seen.until_current()
        assert seen.calls <= 3


async def test_cancelling_leaves_nothing_running(rules: Path) -> None:
    before = asyncio.all_tasks()
    async with watching(rules):
        pass
    assert asyncio.all_tasks() == before
