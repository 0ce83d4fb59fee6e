"""Sessions, refusals and standing approvals as stored, in memory and in a file alike."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from policy.approvals import Bounds
from tests.unit.approvals.desks import LATER, NOW, MakeStore, Store, a_grant


async def test_questions_of_a_session_are_counted_up_to_the_limit(store: Store) -> None:
    assert [await store.count("s", limit=2) for _ in range(4)] == [True, True, False, False]
    assert await store.count("other", limit=2)
    # What was beyond a limit was not counted: a higher one has room.
    assert await store.count("s", limit=3)
    assert not await store.count("s", limit=3)


async def test_many_at_once_never_pass_the_limit(store: Store) -> None:
    found = await asyncio.gather(*(store.count("s", limit=7) for _ in range(20)))
    assert sum(found) == 7


async def test_a_refusal_sticks_to_its_session_and_call(store: Store) -> None:
    await store.note_refusal("s", "sha256:1", now=NOW)
    assert await store.refused("s", "sha256:1")
    assert not await store.refused("s", "sha256:2")
    assert not await store.refused("other", "sha256:1")


async def test_the_longest_unused_session_is_forgotten_first(make_store: MakeStore) -> None:
    store = make_store(Bounds(sessions=2))
    await store.note_refusal("a", "sha256:1", now=NOW)
    await store.note_refusal("b", "sha256:1", now=NOW)
    await store.count("a", limit=5)
    await store.count("c", limit=5)
    assert await store.refused("a", "sha256:1")
    assert not await store.refused("b", "sha256:1")


async def test_the_oldest_refusal_of_a_session_is_forgotten_first(make_store: MakeStore) -> None:
    store = make_store(Bounds(refusals=2))
    for digest in ("1", "2", "1", "3"):
        await store.note_refusal("s", digest, now=NOW)
    assert [await store.refused("s", digest) for digest in ("1", "2", "3")] == [True, False, True]


async def test_a_grant_serves_its_caller_until_it_ends(store: Store) -> None:
    grant = a_grant()
    await store.give(grant)
    await store.give(a_grant("g2", caller="sha256:d", expires=None))
    assert await store.grants("sha256:c", now=NOW) == (grant,)
    assert await store.grants("sha256:c", now=LATER) == ()
    assert [one.id for one in await store.standing(now=NOW)] == ["g1", "g2"]
    assert [one.id for one in await store.standing(now=LATER + timedelta(days=900))] == ["g2"]


async def test_uses_run_out(store: Store) -> None:
    await store.give(a_grant(uses=2))
    assert await store.spend(("g1",), now=NOW)
    assert [one.uses for one in await store.standing(now=NOW)] == [1]
    assert await store.spend(("g1", "g1"), now=NOW)
    assert not await store.spend(("g1",), now=NOW)
    assert await store.standing(now=NOW) == ()


async def test_a_grant_without_a_bound_is_never_used_up(store: Store) -> None:
    await store.give(a_grant(uses=None))
    for _ in range(3):
        assert await store.spend(("g1",), now=NOW)
    assert [one.uses for one in await store.standing(now=NOW)] == [None]


async def test_all_of_the_grants_are_spent_or_none(store: Store) -> None:
    await store.give(a_grant("g1", uses=1))
    await store.give(a_grant("g2", expires=NOW))
    assert not await store.spend(("g1", "g2"), now=NOW)
    assert not await store.spend(("g1", "gone"), now=NOW)
    assert [one.uses for one in await store.standing(now=NOW)] == [1]
    assert await store.spend((), now=NOW)


async def test_one_use_is_taken_once(store: Store) -> None:
    await store.give(a_grant(uses=3))
    found = await asyncio.gather(*(store.spend(("g1",), now=NOW) for _ in range(10)))
    assert sum(found) == 3


async def test_giving_again_refills_nothing(store: Store) -> None:
    await store.give(a_grant(uses=1))
    await store.spend(("g1",), now=NOW)
    await store.give(a_grant(uses=5))
    assert await store.standing(now=NOW) == ()


async def test_what_is_revoked_serves_nobody(store: Store) -> None:
    await store.give(a_grant())
    assert await store.revoke("g1") == a_grant()
    assert await store.revoke("g1") is None
    assert await store.standing(now=NOW) == ()
    assert not await store.spend(("g1",), now=NOW)


async def test_the_longest_unused_grant_is_forgotten_first(make_store: MakeStore) -> None:
    store = make_store(Bounds(grants=2))
    await store.give(a_grant("g1"))
    await store.give(a_grant("g2"))
    await store.spend(("g1",), now=NOW)
    await store.give(a_grant("g3"))
    assert [one.id for one in await store.standing(now=NOW)] == ["g1", "g3"]
