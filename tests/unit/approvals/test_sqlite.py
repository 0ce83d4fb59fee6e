"""The file of a store: its permissions, files that are not a store, and damaged ones."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from policy.approvals import (
    AnswerRefused,
    Filed,
    MemoryApprovals,
    SqliteApprovals,
    StoreUnusable,
    database,
)
from policy.approvals.documents import decode, digest, encode
from policy.runtime import open_database
from tests.unit.approvals.desks import ANN, LATER, NOW, a_grant, a_request, asks


@contextmanager
def inside(path: Path) -> Iterator[sqlite3.Connection]:
    """Give the bare database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def empty(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


async def test_file_and_folder_are_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "approvals.db"
    async with SqliteApprovals(path) as store:
        await store.file(a_request(), "k", now=NOW)
        for made in path.parent.iterdir():
            assert stat.S_IMODE(made.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert len(list(path.parent.iterdir())) == 3


async def test_a_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    path.touch()
    path.chmod(0o666)
    async with SqliteApprovals(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_what_was_kept_is_there_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    async with SqliteApprovals(path) as store:
        filed = await store.file(a_request(), "k", now=NOW)
        await store.give(a_grant())
        await store.note_refusal("s", "sha256:9", now=NOW)
        await store.count("s", limit=1)
    async with SqliteApprovals(path) as store:
        assert await store.open(now=NOW) == (filed,)
        assert await store.standing(now=NOW) == (a_grant(),)
        assert await store.refused("s", "sha256:9")
        assert not await store.count("s", limit=1)
        assert (await store.file(a_request("q2"), "k", now=NOW)) == filed


@pytest.mark.parametrize("exchanged", [False, True])
async def test_a_file_that_is_gone_or_another_one_is_of_no_use_any_more(
    tmp_path: Path, exchanged: bool
) -> None:
    path = tmp_path / "approvals.db"
    async with SqliteApprovals(path) as store:
        await store.file(a_request(), "k", now=NOW)
        await store.agree("q1", ANN, now=NOW)
        empty(tmp_path)
        if exchanged:
            SqliteApprovals(path).close()
        with pytest.raises(StoreUnusable, match="deleted or replaced"):
            await store.end("q1", "used", now=NOW)
        with pytest.raises(StoreUnusable, match="deleted or replaced"):
            await store.file(a_request("q2"), "k2", now=NOW)
    assert path.exists() is exchanged


def test_what_is_no_database_is_said_so_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    path.write_bytes(b"not a database, but long enough to be one, said somebody once" * 99)
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match=r"approvals\.db: file is not a database"):
        SqliteApprovals(path)
    assert path.read_bytes() == before


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with inside(path) as other:
        other.execute("CREATE TABLE note (text)")
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match="of another application"):
        SqliteApprovals(path)
    assert path.read_bytes() == before


async def test_a_newer_version_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    SqliteApprovals(path).close()
    with inside(path) as database:
        database.execute("PRAGMA user_version=2")
    with pytest.raises(StoreUnusable, match=r"newer version \(2 instead of 1\)"):
        SqliteApprovals(path)


def test_an_older_version_that_nobody_can_read_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    SqliteApprovals(path).close()
    with inside(path) as file:
        file.execute("PRAGMA user_version=0")
    with pytest.raises(StoreUnusable, match=r"older version \(0 instead of 1\)"):
        SqliteApprovals(path)


async def test_a_file_that_another_process_keeps_locked_is_of_no_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "open_database", partial(open_database, busy_seconds=0.01))
    path = tmp_path / "approvals.db"
    async with SqliteApprovals(path) as store:
        await store.file(a_request(), "k", now=NOW)
        await store.agree("q1", ANN, now=NOW)
        with inside(path) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnusable, match="locked"):
                await store.end("q1", "used", now=NOW)
            with pytest.raises(StoreUnusable, match="locked"):
                await store.give(a_grant())
        assert await store.end("q1", "used", now=NOW) is not None


async def test_all_who_share_a_file_take_each_use_once(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    async with SqliteApprovals(path) as one, SqliteApprovals(path) as other:
        await one.give(a_grant(uses=7))
        spent = await asyncio.gather(
            *(store.spend(("g1",), now=NOW) for _ in range(10) for store in (one, other))
        )
        assert sum(spent) == 7
        counted = await asyncio.gather(
            *(store.count("s", limit=5) for _ in range(6) for store in (one, other))
        )
        assert sum(counted) == 5


async def test_a_full_disk_keeps_nothing_and_hurts_nothing_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    async with SqliteApprovals(path) as store:
        filed = await store.file(a_request(), "k", now=NOW)
        pages = "PRAGMA max_page_count={}"
        await store._database.read(lambda file: file.execute(pages.format(1)))
        with pytest.raises(StoreUnusable, match="full"):
            await store.file(a_request("q2", shown="x" * 100_000), "k2", now=NOW)
        assert await store.open(now=NOW) == (filed,)
        assert await store.since(filed.revision) == ()
        await store._database.read(lambda file: file.execute(pages.format(10_000)))
        assert (await store.file(a_request("q2"), "k2", now=NOW)).revision == filed.revision + 1


async def test_a_file_that_can_only_be_read_takes_no_answer(tmp_path: Path) -> None:
    async with SqliteApprovals(tmp_path / "approvals.db") as store:
        filed = await store.file(a_request(), "k", now=NOW)
        await store._database.read(lambda file: file.execute("PRAGMA query_only=ON"))
        with pytest.raises(StoreUnusable, match="approvals cannot be kept"):
            await store.agree("q1", ANN, now=NOW)
        assert await store.open(now=NOW) == (filed,)


async def test_a_store_in_memory_is_its_own_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with SqliteApprovals(":memory:") as one, SqliteApprovals(":memory:") as other:
        await one.file(a_request(), "k", now=NOW)
        assert await other.open(now=NOW) == ()
        assert one.path is None
    assert os.listdir(tmp_path) == []
    with pytest.raises(StoreUnusable, match="closed"):
        await one.open(now=NOW)


async def test_the_former_name_of_a_store_in_memory_still_makes_one() -> None:
    with pytest.deprecated_call(match="SqliteApprovals"):
        store = MemoryApprovals()
    filed = await store.file(a_request(), "k", now=NOW)
    assert await store.open(now=NOW) == (filed,)


def test_a_place_where_no_file_can_be_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="it is not a regular file"):
        SqliteApprovals(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnusable, match="approvals cannot be kept in"):
        SqliteApprovals(tmp_path / "file" / "approvals.db")


async def test_a_closed_store_answers_nothing(tmp_path: Path) -> None:
    store = SqliteApprovals(tmp_path / "approvals.db")
    store.close()
    store.close()
    with pytest.raises(StoreUnusable, match="closed"):
        await store.open(now=NOW)


def test_many_that_begin_at_once_make_one_file(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    start = threading.Barrier(6)
    failed: list[BaseException] = []

    def begin() -> None:
        start.wait()
        try:
            SqliteApprovals(path).close()
        except BaseException as error:  # noqa: BLE001 - shown by the assertion below
            failed.append(error)

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


DAMAGE = {
    "half of it": "UPDATE question SET document = substr(document, 1, 40)",
    "another state, sealed": None,
    "another state": """UPDATE question SET document = replace(document, 'pending', 'approved')""",
    "no seal": "UPDATE question SET seal = ''",
    "bytes": "UPDATE question SET document = x'00ff', seal = x'00'",
    "closed": "UPDATE question SET is_open = 2",
    "of another key": "UPDATE question SET key = '" + digest("other") + "'",
    "of another session": "UPDATE question SET session = '" + digest("other") + "'",
    "another number": "UPDATE question SET revision = revision + 1",
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_request_is_never_an_approval(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "approvals.db"
    async with SqliteApprovals(path) as store:
        filed = await store.file(a_request(), "k", now=NOW)
        with inside(path) as database:
            statement = DAMAGE[damage]
            if statement is not None:
                database.execute(statement)
            else:
                text = encode(filed).replace('"pending"', '"approved"')
                assert decode(Filed, text).state == "approved"
                database.execute("UPDATE question SET document = ?, seal = ?", (text, digest(text)))
        assert await store.open(now=NOW) == ()
        assert await store.since(0) == ()
        with pytest.raises(StoreUnusable, match="damaged"):
            await store.get("q1", now=NOW)
        with pytest.raises(StoreUnusable, match="damaged"):
            await store.end("q1", "used", now=NOW)
        with pytest.raises(StoreUnusable, match="damaged"):
            await store.agree("q1", ANN, now=NOW)
        # Nobody is kept from asking again.
        anew = await store.file(a_request("q2"), "k", now=NOW)
        assert (anew.request.id, anew.state) == ("q2", "pending")


async def test_a_damaged_grant_serves_nobody(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    async with SqliteApprovals(path) as store:
        await store.give(a_grant("g1", uses=1))
        await store.give(a_grant("g2"))
        with inside(path) as database:
            database.execute(
                "UPDATE standing SET document = replace(document, ':1,', ':9,') WHERE number = 1"
            )
        assert [one.id for one in await store.standing(now=NOW)] == ["g2"]
        assert not await store.spend(("g1",), now=NOW)
        assert await store.revoke("g1") is None


async def test_a_request_that_cannot_be_written_is_not_put(tmp_path: Path) -> None:
    async with SqliteApprovals(tmp_path / "approvals.db") as store:
        with pytest.raises(StoreUnusable, match="cannot be kept"):
            await store.file(a_request(input={"value": object()}), "k", now=NOW)
        assert await store.revision() == 0


@pytest.mark.parametrize("hostile", ["'; DROP TABLE question; --", "\x00", "\ud800", "%", "" * 9])
async def test_texts_are_looked_up_whatever_they_hold(tmp_path: Path, hostile: str) -> None:
    async with SqliteApprovals(tmp_path / "approvals.db") as store:
        filed = await store.file(a_request(hostile), hostile, now=NOW)
        assert await store.get(hostile, now=NOW) == filed
        assert await store.open(now=NOW, session=hostile) == ()
        assert await store.count(hostile, limit=1)
        await store.note_refusal(hostile, hostile, now=NOW)
        assert await store.refused(hostile, hostile)
        await store.give(a_grant(hostile, caller=hostile))
        assert await store.spend((hostile,), now=NOW)
        assert len(await store.grants(hostile, now=NOW)) == 1


async def test_what_was_found_out_on_the_way_to_a_refusal_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "approvals.db"
    async with SqliteApprovals(path) as store:
        await store.file(a_request("q1", asks()), "k", now=NOW)
        with pytest.raises(AnswerRefused, match="has expired"):
            await store.agree("q1", ANN, now=LATER)
        assert [one.state for one in await store.since(0)] == ["expired"]


def test_a_folder_that_a_group_shares_shares_its_store_with_that_group(tmp_path: Path) -> None:
    for mode, wanted in ((0o2770, 0o660), (0o770, 0o600), (0o2777, 0o600), (0o2750, 0o600)):
        folder = tmp_path / f"{mode:o}"
        folder.mkdir()
        folder.chmod(mode)
        for _ in range(2):
            SqliteApprovals(folder / "a.sqlite").close()
            assert stat.S_IMODE((folder / "a.sqlite").stat().st_mode) == wanted, oct(mode)
        (folder / "a.sqlite").chmod(0o666)
        SqliteApprovals(folder / "a.sqlite").close()
        assert stat.S_IMODE((folder / "a.sqlite").stat().st_mode) == wanted
