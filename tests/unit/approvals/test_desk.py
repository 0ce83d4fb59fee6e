"""How approval requests are filed, answered and ended, in memory and in a file alike."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest

from policy.approvals import AnswerRefused, Bounds, Ended, Filed, NotFiled, Person
from policy.model import Caller
from tests.unit.approvals.desks import (
    ANN,
    BOB,
    CYD,
    EVE,
    LATER,
    NOW,
    MakeStore,
    Store,
    a_request,
    asks,
)


async def test_a_question_waits_until_somebody_answers(store: Store) -> None:
    filed = await store.file(a_request(), "k", now=NOW)
    assert (filed.state, filed.people) == ("pending", ())
    assert await store.open(now=NOW) == (filed,)
    assert await store.get("q1", now=NOW) == filed
    approved = await store.agree("q1", ANN, now=NOW)
    assert (approved.state, approved.people) == ("approved", (ANN,))
    assert await store.open(now=NOW) == ()
    assert await store.get("q1", now=NOW) == approved


async def test_an_open_question_of_the_same_key_is_taken_up_with_its_people(store: Store) -> None:
    both = asks(groups=("finance", "legal"), two_people=True)
    await store.file(a_request("q1", both), "k", now=NOW)
    begun = await store.agree("q1", ANN, now=NOW)
    assert begun.state == "pending"
    again = await store.file(
        a_request("q2", both, expires=LATER + timedelta(hours=1)), "k", now=NOW
    )
    assert again == begun
    assert again.request.expires == LATER
    assert await store.get("q2", now=NOW) is None


async def test_an_approval_that_nobody_took_is_taken_up(store: Store) -> None:
    await store.file(a_request("q1"), "k", now=NOW)
    approved = await store.agree("q1", ANN, now=NOW)
    assert await store.file(a_request("q2"), "k", now=NOW) == approved


@pytest.mark.parametrize(
    "changed",
    [
        {"digest": "sha256:2"},
        {"caller": Caller(session="s", agent="other")},
        {"kind": "elevation"},
    ],
)
async def test_what_is_not_the_same_question_is_not_taken_up(
    store: Store, changed: dict[str, Any]
) -> None:
    await store.file(a_request("q1"), "k", now=NOW)
    filed = await store.file(a_request("q2", **changed), "k", now=NOW)
    assert filed.request.id == "q2"


@pytest.mark.parametrize("end", ["denied", "used", "cancelled", "expired"])
async def test_a_question_that_has_ended_is_put_anew(store: Store, end: str) -> None:
    await store.file(a_request("q1"), "k", now=NOW)
    await _brought_to(store, end)
    filed = await store.file(a_request("q2"), "k", now=NOW)
    assert (filed.request.id, filed.state) == ("q2", "pending")


@pytest.mark.parametrize("end", ["approved", "denied", "used", "cancelled", "expired"])
async def test_only_a_pending_question_can_be_answered(store: Store, end: str) -> None:
    await store.file(a_request("q1"), "k", now=NOW)
    await _brought_to(store, end)
    before = await store.get("q1", now=NOW)
    with pytest.raises(AnswerRefused, match="this request"):
        await store.agree("q1", BOB, now=NOW)
    with pytest.raises(AnswerRefused, match="this request"):
        await store.refuse("q1", BOB, now=NOW)
    assert await store.get("q1", now=NOW) == before


async def _brought_to(store: Store, state: str) -> None:
    """Bring question q1 into a state."""
    if state in ("approved", "used"):
        await store.agree("q1", ANN, now=NOW)
    if state == "denied":
        await store.refuse("q1", ANN, now=NOW)
    elif state != "approved":
        ended: dict[str, Ended] = {"used": "used", "cancelled": "cancelled", "expired": "expired"}
        assert await store.end("q1", ended[state], now=NOW) is not None


async def test_nobody_answers_what_was_never_asked(store: Store) -> None:
    with pytest.raises(AnswerRefused, match="no such request"):
        await store.agree("q1", ANN, now=NOW)
    with pytest.raises(AnswerRefused, match="no such request"):
        await store.refuse("q1", ANN, now=NOW)
    assert await store.end("q1", "cancelled", now=NOW) is None
    assert await store.get("q1", now=NOW) is None


@pytest.mark.parametrize(
    ("person", "why"),
    [
        (Person(id="bot", agent="helper"), "an agent cannot approve"),
        (Person(id="ann", session="s"), "out of the session that asks"),
        (Person(id="ann", session="root"), "out of the session that asks"),
        (Person(id="  "), "the name of a person"),
    ],
)
async def test_whoever_may_never_approve_is_told_so(store: Store, person: Person, why: str) -> None:
    caller = Caller(session="s", parent=Caller(session="root"))
    await store.file(a_request(caller=caller), "k", now=NOW)
    with pytest.raises(AnswerRefused, match=why):
        await store.agree("q1", person, now=NOW)
    assert [filed.state for filed in await store.open(now=NOW)] == ["pending"]


async def test_somebody_of_no_group_that_is_wanted_is_refused(store: Store) -> None:
    await store.file(a_request("q1", asks(groups=("legal",))), "k", now=NOW)
    with pytest.raises(AnswerRefused, match="eve may not answer this: it needs somebody of legal"):
        await store.agree("q1", EVE, now=NOW)
    assert (await store.agree("q1", CYD, now=NOW)).state == "approved"


async def test_everything_that_asks_has_to_be_answered(store: Store) -> None:
    reasons = asks("a", groups=("finance",)), asks("b", groups=("legal",))
    await store.file(a_request("q1", *reasons), "k", now=NOW)
    assert (await store.agree("q1", ANN, now=NOW)).state == "pending"
    # Finance has been answered: it is legal that is wanted.
    with pytest.raises(AnswerRefused, match="it needs somebody of legal"):
        await store.agree("q1", Person(id="fay", groups=("finance",)), now=NOW)
    approved = await store.agree("q1", CYD, now=NOW)
    assert (approved.state, approved.people) == ("approved", (ANN, CYD))


@pytest.mark.parametrize("again", ["ann", "ANN", " ann ", "\uff41nn"])
async def test_two_people_are_two_identities(store: Store, again: str) -> None:
    await store.file(a_request("q2", asks(two_people=True)), "k", now=NOW)
    assert (await store.agree("q2", ANN, now=NOW)).state == "pending"
    same = Person(id=again, groups=("finance",))
    if same == ANN:
        with pytest.raises(AnswerRefused, match="somebody else is needed"):
            await store.agree("q2", same, now=NOW)
    else:
        assert (await store.agree("q2", same, now=NOW)).people == (same,)
    assert (await store.agree("q2", EVE, now=NOW)).state == "approved"


@pytest.mark.parametrize(
    "same",
    ["ANN", " ann ", "\uff41nn", "an\u200bn", "ann\u00ad", "ann\ufe0f", "\u202eann", "ann\0"],
)
async def test_names_that_look_the_same_are_one_person(store: Store, same: str) -> None:
    await store.file(a_request("q1", asks(two_people=True)), "k", now=NOW)
    await store.agree("q1", ANN, now=NOW)
    filed = await store.agree("q1", Person(id=same), now=NOW)
    assert filed.state == "pending"


@pytest.mark.parametrize("nobody", ["", "  ", "\u200b", "\0", "\u3164"])
async def test_a_name_of_which_nothing_can_be_seen_is_nobody(store: Store, nobody: str) -> None:
    await store.file(a_request(), "k", now=NOW)
    with pytest.raises(AnswerRefused, match="the name of a person"):
        await store.agree("q1", Person(id=nobody), now=NOW)


async def test_a_refusal_sticks_although_no_call_waits_to_hear_of_it(store: Store) -> None:
    below = Caller(agent="helper", session="s2", parent=Caller(session="s"))
    await store.file(a_request(caller=below), "k", now=NOW)
    await store.refuse("q1", EVE, now=NOW)
    assert await store.refused("s", "sha256:1")
    assert not await store.refused("s2", "sha256:1")


async def test_a_refusal_is_final_and_says_who_and_why(store: Store) -> None:
    await store.file(a_request(), "k", now=NOW)
    denied = await store.refuse("q1", EVE, now=NOW, message="use the test account")
    assert (denied.state, denied.denied_by, denied.message) == (
        "denied",
        "eve",
        "use the test account",
    )
    assert await store.end("q1", "used", now=NOW) is None


async def test_no_to_everything_of_a_session_tree(store: Store) -> None:
    child = Caller(session="child", parent=Caller(session="s"))
    await store.file(a_request("q1"), "k1", now=NOW)
    await store.file(a_request("q2", caller=child), "k2", now=NOW)
    await store.file(a_request("q3", caller=Caller(session="other")), "k3", now=NOW)
    await store.file(a_request("q4"), "k4", now=NOW)
    await store.agree("q4", ANN, now=NOW)
    denied = await store.refuse_all("s", EVE, now=NOW, message="stop")
    assert all([await store.refused("s", filed.request.digest) for filed in denied])
    assert [(one.request.id, one.state, one.message) for one in denied] == [
        ("q1", "denied", "stop"),
        ("q2", "denied", "stop"),
    ]
    assert [one.request.id for one in await store.open(now=NOW)] == ["q3"]


async def test_open_questions_are_listed_oldest_first_by_session_tree(store: Store) -> None:
    child = Caller(session="child", parent=Caller(session="s"))
    await store.file(a_request("q2", asks(two_people=True)), "k1", now=NOW)
    await store.file(a_request("q1", caller=child), "k2", now=NOW)
    await store.file(a_request("q3", caller=Caller(session="child")), "k3", now=NOW)
    await store.agree("q2", ANN, now=NOW)
    assert [one.request.id for one in await store.open(now=NOW)] == ["q2", "q1", "q3"]
    assert [one.request.id for one in await store.open(now=NOW, session="s")] == ["q2", "q1"]
    assert await store.open(now=NOW, session="nobody") == ()


@pytest.mark.parametrize("approved", [False, True])
async def test_whoever_looks_after_its_time_finds_it_expired(store: Store, approved: bool) -> None:
    await store.file(a_request("q1"), "k", now=NOW)
    if approved:
        await store.agree("q1", ANN, now=NOW)
    found = await store.get("q1", now=LATER)
    assert found is not None
    assert found.state == "expired"
    assert await store.open(now=LATER) == ()
    with pytest.raises(AnswerRefused, match="has expired"):
        await store.agree("q1", BOB, now=LATER)
    # It was seen to be over: a clock that goes back changes nothing.
    assert await store.end("q1", "used", now=NOW) is None
    anew = await store.file(a_request("q2", expires=None), "k", now=LATER)
    assert anew.request.id == "q2"


async def test_a_question_without_an_end_waits_for_ever(store: Store) -> None:
    await store.file(a_request(expires=None), "k", now=NOW)
    assert len(await store.open(now=NOW + timedelta(days=10_000))) == 1


async def test_an_approval_has_exactly_one_taker(store: Store) -> None:
    await store.file(a_request(), "k", now=NOW)
    assert await store.end("q1", "used", now=NOW) is None
    await store.agree("q1", ANN, now=NOW)
    taken = await asyncio.gather(*(store.end("q1", "used", now=NOW) for _ in range(10)))
    assert sorted(one.state for one in taken if one is not None) == ["used"]


async def test_threads_with_loops_of_their_own_take_one_approval_once(store: Store) -> None:
    await store.file(a_request(), "k", now=NOW)
    await store.agree("q1", ANN, now=NOW)
    taken: list[Filed | None] = []
    start = threading.Barrier(4)

    def take() -> None:
        start.wait()
        taken.append(asyncio.run(store.end("q1", "used", now=NOW)))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert len(taken) == 4
    assert sum(one is not None for one in taken) == 1


@pytest.mark.parametrize("state", ["cancelled", "expired"])
async def test_an_approval_that_nobody_took_can_be_taken_back(store: Store, state: Ended) -> None:
    await store.file(a_request(), "k", now=NOW)
    await store.agree("q1", ANN, now=NOW)
    ended = await store.end("q1", state, now=NOW)
    assert ended is not None
    assert ended.state == state
    assert await store.end("q1", "used", now=NOW) is None


async def test_every_change_has_a_number_of_its_own(store: Store) -> None:
    assert await store.revision() == 0
    first = await store.file(a_request("q1"), "k1", now=NOW)
    second = await store.file(a_request("q2"), "k2", now=NOW)
    third = await store.agree("q1", ANN, now=NOW)
    assert 0 < first.revision < second.revision < third.revision == await store.revision()
    assert await store.since(0) == (second, third)
    assert await store.since(second.revision) == (third,)
    assert await store.since(third.revision) == ()
    # Taking up changes nothing.
    await store.file(a_request("q3"), "k1", now=NOW)
    assert await store.revision() == third.revision


async def test_an_id_is_used_once(store: Store) -> None:
    await store.file(a_request("q1"), "k", now=NOW)
    await store.refuse("q1", ANN, now=NOW)
    with pytest.raises(NotFiled, match="id"):
        await store.file(a_request("q1"), "k", now=NOW)


async def test_too_many_open_questions_are_not_put_and_none_is_forgotten(
    make_store: MakeStore,
) -> None:
    store = make_store(Bounds(open=2))
    await store.file(a_request("q1"), "k1", now=NOW)
    await store.file(a_request("q2", expires=None), "k2", now=NOW)
    with pytest.raises(NotFiled, match="too many"):
        await store.file(a_request("q3"), "k3", now=NOW)
    assert len(await store.open(now=NOW)) == 2
    # One that is there is taken up still, and one that expired makes room.
    assert (await store.file(a_request("q4"), "k1", now=NOW)).request.id == "q1"
    filed = await store.file(a_request("q3", expires=None), "k3", now=LATER)
    assert filed.request.id == "q3"


async def test_of_closed_questions_the_oldest_are_forgotten(make_store: MakeStore) -> None:
    store = make_store(Bounds(closed=2))
    for number in range(5):
        await store.file(a_request(f"q{number}"), f"k{number}", now=NOW)
    for number in (3, 0, 1, 2):
        await store.refuse(f"q{number}", ANN, now=NOW)
    await store.file(a_request("q5"), "k5", now=NOW)
    kept = [f"q{n}" for n in range(6) if await store.get(f"q{n}", now=NOW) is not None]
    assert kept == ["q1", "q2", "q4", "q5"]
    assert [one.request.id for one in await store.since(0)] == ["q4", "q1", "q2", "q5"]


async def test_a_question_put_too_late_has_expired(store: Store) -> None:
    filed = await store.file(a_request(expires=NOW), "k", now=NOW)
    assert filed.state == "expired"
