"""A store that an earlier version wrote is opened, and nothing in it is lost.

The stores are `tests/data/approvals/version-*.sql`, each printed by that version of
`tests/service/approvals/earlier_store.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from policy.approvals import AnswerRefused, SqliteApprovals
from policy.model import PermissionDenied
from tests.service.approvals import earlier_store as earlier
from tests.service.approvals.earlier_store import ANN, CYD, NOW, asking, service_on

STORES = sorted((Path(__file__).parents[2] / "data" / "approvals").glob("version-*.sql"))


@pytest.fixture(params=STORES, ids=lambda path: path.stem)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqliteApprovals]:
    path = tmp_path / "approvals.sqlite"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(request.param.read_text("ascii"))
    async with SqliteApprovals(path) as opened:
        yield opened


@pytest.mark.parametrize("name", earlier.QUESTIONS)
async def test_every_question_is_what_it_was(store: SqliteApprovals, name: str) -> None:
    request, state, people = earlier.QUESTIONS[name]
    filed = await store.get(request.id, now=NOW)
    assert filed is not None
    assert filed.request == request
    assert repr(dict(filed.request.input)) == repr(dict(request.input))
    assert (filed.key, filed.state, filed.people) == (f"key of {name}", state, people)
    assert filed.denied_by == ("cyd" if state == "denied" else None)
    assert filed.message == (earlier.MESSAGE if request.id == "message" else None)


async def test_what_waits_still_waits_and_can_be_answered(store: SqliteApprovals) -> None:
    waiting = [filed.request.id for filed in await store.open(now=NOW, session="s")]
    assert waiting == ["pending", "half", "endless", "elevation"]
    assert (await store.agree("half", CYD, now=NOW)).state == "approved"
    again = earlier.asked("again", digest="sha256:approved")
    taken_up = await store.file(again, "key of approved", now=NOW)
    assert (taken_up.request.id, taken_up.state) == ("approved", "approved")
    assert await store.end("approved", "used", now=NOW) is not None
    assert await store.end("approved", "used", now=NOW) is None


async def test_what_has_ended_stays_ended(store: SqliteApprovals) -> None:
    for request, state, _ in earlier.QUESTIONS.values():
        if state not in ("pending", "approved"):
            with pytest.raises(AnswerRefused):
                await store.agree(request.id, ANN, now=NOW)
            assert await store.end(request.id, "used", now=NOW) is None


async def test_changes_go_on_where_they_stopped(store: SqliteApprovals) -> None:
    last = await store.revision()
    assert max(filed.revision for filed in await store.since(0)) == last
    await store.agree("pending", ANN, now=NOW)
    assert [filed.request.id for filed in await store.since(last)] == ["pending"]


async def test_standing_approvals_serve_as_often_as_they_did(store: SqliteApprovals) -> None:
    for grant, left in earlier.GRANTS:
        kept = {one.id: one for one in await store.grants(grant.caller, now=NOW)}[grant.id]
        assert (kept.people, kept.tools, kept.key, kept.expires, kept.uses) == (
            grant.people,
            grant.tools,
            grant.key,
            grant.expires,
            left,
        )
        for _ in range(left or 3):
            assert await store.spend((grant.id,), now=NOW)
        assert await store.spend((grant.id,), now=NOW) == (left is None)
    for grant in earlier.GONE:
        assert not await store.spend((grant.id,), now=NOW)


async def test_counts_and_refusals_of_sessions_go_on(store: SqliteApprovals) -> None:
    limit = earlier.COUNTED + 1
    assert [await store.count("counted", limit=limit) for _ in range(2)] == [True, False]
    for digest in earlier.REFUSED:
        assert await store.refused("noted", digest)
    for id in ("denied", "message"):
        assert await store.refused("s", f"sha256:{id}")


async def test_a_service_takes_up_what_the_one_before_it_left(
    store: SqliteApprovals, tmp_path: Path
) -> None:
    (tmp_path / "rules").mkdir()
    s, gate = service_on(store, tmp_path / "rules")
    (waiting,) = await gate.pending("default")
    with pytest.raises(PermissionDenied, match="refused"):
        await s.call(earlier.PAY, amount=3)
    # Answered while no server was there.
    await s.call(earlier.PAY, amount=2)
    # Remembered for one call more, given in advance for two more.
    await s.call(earlier.GIFT, to="bob", n=3)
    for n in (2, 3):
        await s.call(earlier.LEND, n=n)
    assert s.runs == 4
    doing, id = await asking(gate, s.call(earlier.PAY, amount=1))
    assert id == waiting.request.id
    await gate.approve(id, ANN)
    await doing
    for used_up in (s.call(earlier.GIFT, to="bob", n=4), s.call(earlier.LEND, n=4)):
        doing, id = await asking(gate, used_up)
        await gate.deny(id, ANN)
        with pytest.raises(PermissionDenied):
            await doing
    assert s.runs == 5
    # Every question of the session counts: those before, and the four that were put here.
    assert earlier.LIMIT == earlier.ASKED + 4
    with pytest.raises(PermissionDenied, match="too many"):
        await s.call(earlier.PAY, amount=5)
