"""Which people must answer before a call runs, driven through the service under real rules."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from policy import Caller, PolicyStore
from policy.approvals import Approved, Grant, Person, SqliteApprovals, TimedOut
from policy.model import PermissionDenied, Verdict
from policy.service import Confirm, build_tool_service
from tests.fakes import CountingHandler
from tests.service.asking.stage import ANN, BOB, CYD, EVE, HEADER, NO, People, Slow, Stage
from tests.unit.service.judges import FakeGeneration, FakeStore

FINANCE = 'pay-out: allow pay with approval by "finance"\n'
TWO = 'pay-out: allow pay with approval by "finance" two people\n'
BOTH = 'pay-out: allow pay with approval by "finance", "legal" two people\n'
SEVERAL = FINANCE + 'check: ask pay by "legal"\n'


@pytest.mark.parametrize(
    ("rules", "answers", "questions"),
    [
        ("pay-out: allow pay with approval\n", [EVE], 1),
        (FINANCE, [ANN], 1),
        ('pay-out: allow pay with approval by "finance", "legal"\n', [CYD], 1),
        (TWO, [ANN, BOB], 2),
        (TWO, [Approved(by="ann", groups=("finance",), with_=BOB.people)], 1),
        (BOTH, [ANN, CYD], 2),
        (BOTH, [BOB, ANN], 2),
        ("pay-out: allow pay with approval two people\n", [EVE, ANN], 2),
        (SEVERAL, [ANN, CYD], 2),
        (SEVERAL, [BOB], 1),
    ],
)
async def test_a_call_runs_once_everybody_wanted_has_agreed(
    rules: str, answers: list[Any], questions: int, tmp_path: Path
) -> None:
    s = Stage(tmp_path, rules, *answers)
    assert await s.call(amount=3) == {"amount": 3}
    assert (s.questions, s.runs) == (questions, 1)
    assert all(outcome == "approved" for outcome, _, _ in s.approvals)


@pytest.mark.parametrize(
    ("rules", "answers"),
    [
        (FINANCE, [EVE]),
        (FINANCE, [CYD]),
        (TWO, [ANN, ANN]),
        (TWO, [ANN, Approved(by=" ANN ", groups=("finance",))]),
        (TWO, [ANN, CYD]),
        (BOTH, [ANN, Approved(by="dan", groups=("finance",))]),
        (BOTH, [BOB, BOB]),
        (SEVERAL, [ANN, EVE]),
        (TWO, [ANN, TimedOut()]),
        (TWO, [ANN, NO]),
        (TWO, [ANN, ValueError()]),
        (FINANCE, [Approved(by="", groups=("finance",))]),
        (FINANCE, [Approved(by=None, groups=("finance",))]),  # type: ignore[arg-type]
        (FINANCE, [Approved(by="ann", groups="finance")]),  # type: ignore[arg-type]
    ],
)
async def test_a_call_never_runs_while_somebody_wanted_has_not_agreed(
    rules: str, answers: list[Any], tmp_path: Path
) -> None:
    s = Stage(tmp_path, rules, *answers)
    with pytest.raises(PermissionDenied):
        await s.call(amount=3)
    assert s.runs == 0
    assert s.last.outcome == "denied"
    assert s.people.answers == []


async def test_the_next_person_is_asked_only_about_what_is_left(tmp_path: Path) -> None:
    s = Stage(tmp_path, SEVERAL, ANN, CYD)
    await s.call(amount=3)
    assert [set(rules) for rules in s.people.asked] == [{"pay-out", "check"}, {"check"}]
    assert s.approvals == [("approved", "ann", ("pay-out",)), ("approved", "cyd", ("check",))]


async def test_whoever_is_not_entitled_is_on_record_and_not_named_to_the_agent(
    tmp_path: Path,
) -> None:
    s = Stage(tmp_path, FINANCE, EVE)
    with pytest.raises(PermissionDenied, match="not entitled") as caught:
        await s.call(amount=3)
    assert caught.value.code == "approval-failed"
    assert not re.search(r"\beve\b", caught.value.message)
    assert s.approvals == [("none", "eve", ("pay-out",))]


@pytest.mark.parametrize(
    "person",
    [
        Person(id="cyd", groups=("finance",), agent="coder"),
        Person(id="cyd", groups=("finance",), session="s1"),
        Person(id="cyd", groups=("finance",), session="top"),
    ],
)
async def test_no_agent_and_nobody_out_of_the_askers_sessions_agrees(
    person: Person, tmp_path: Path
) -> None:
    s = Stage(tmp_path, TWO, Approved(by="ann", groups=("finance",), with_=(person,)), NO)
    child = Caller(agent="child", session="s1", parent=Caller(agent="top", session="top"))
    with pytest.raises(PermissionDenied):
        await s.call(by=child, amount=3)
    assert s.runs == 0
    assert s.approvals[:2] == [
        ("approved", "ann", ("pay-out",)),
        ("none", "cyd", ("pay-out",)),
    ]


async def test_a_message_with_a_refusal_reaches_the_agent_bounded_and_with_nothing_hidden(
    tmp_path: Path,
) -> None:
    answer = type(NO)(by="ann", reason="use \u202eaccount 7\n" + "x" * 5_000)
    s = Stage(tmp_path, FINANCE, answer)
    with pytest.raises(PermissionDenied) as caught:
        await s.call(amount=3)
    message = caught.value.message
    assert "use \\u{202e}account 7\\u{a}" in message or "use \\u{202e}account 7\\n" in message
    assert "\u202e" not in message
    assert "\n" not in message
    assert len(message) <= 300
    assert caught.value.code == "approval-refused"


async def test_a_refusal_sticks_even_where_the_next_person_agrees(tmp_path: Path) -> None:
    s = Stage(tmp_path, TWO, ANN, NO, ANN, BOB)
    for _ in range(2):
        with pytest.raises(PermissionDenied):
            await s.call(amount=3)
    assert s.questions == 2
    await s.call(amount=4)
    assert (s.questions, s.runs) == (4, 1)


async def test_of_two_equal_calls_a_refusal_of_one_stops_the_other(tmp_path: Path) -> None:
    slow = Slow()
    s = Stage(tmp_path, FINANCE, approver=slow)
    calls = [asyncio.ensure_future(s.call(amount=3)) for _ in range(2)]
    (_, first), (_, second) = await slow.next(), await slow.next()
    first.set_result(NO)
    second.set_result(ANN)
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, PermissionDenied) for one in ended)
    assert s.runs == 0


async def test_every_question_counts_also_those_to_the_second_person(tmp_path: Path) -> None:
    s = Stage(tmp_path, TWO, ANN, BOB, ANN, BOB, asks_per_session=3)
    await s.call(amount=1)
    with pytest.raises(PermissionDenied) as caught:
        await s.call(amount=2)
    assert caught.value.code == "too-many-questions"
    assert (s.questions, s.runs) == (3, 1)


# --- meanwhile -------------------------------------------------------------------------------


async def test_a_rule_that_was_edited_meanwhile_is_asked_about_anew(tmp_path: Path) -> None:
    s = Stage(tmp_path, FINANCE)
    s.people.answers = [lambda: s.edit(FINANCE.replace("finance", "legal")), ANN, CYD]
    await s.call(amount=3)
    assert (s.questions, s.runs) == (2, 1)


async def test_a_rule_that_was_only_moved_or_reworded_is_not(tmp_path: Path) -> None:
    s = Stage(tmp_path, FINANCE)
    moved = "# a remark\n\n" + FINANCE.replace('"finance"', '"finance" because "money"')
    s.people.answers = [lambda: s.edit(moved), ANN]
    await s.call(amount=3)
    assert (s.questions, s.runs) == (1, 1)


async def test_a_rule_that_came_meanwhile_is_asked_about_too(tmp_path: Path) -> None:
    s = Stage(tmp_path, FINANCE)
    s.people.answers = [lambda: s.edit(SEVERAL), ANN, CYD]
    await s.call(amount=3)
    assert s.people.asked == [("pay-out",), ("check",)]
    assert s.runs == 1


async def test_a_deny_that_came_meanwhile_denies(tmp_path: Path) -> None:
    s = Stage(tmp_path, FINANCE)
    s.people.answers = [lambda: s.edit(FINANCE + "stop: deny pay\n"), ANN]
    with pytest.raises(PermissionDenied):
        await s.call(amount=3)
    assert (s.questions, s.runs) == (1, 0)


async def test_rules_that_keep_changing_end_in_a_denial(tmp_path: Path) -> None:
    s = Stage(tmp_path, FINANCE)
    s.people.answers = [
        lambda: s.edit(FINANCE.replace("finance", "legal")),
        ANN,
        lambda: s.edit(FINANCE.replace("finance", "ops")),
        CYD,
    ]
    with pytest.raises(PermissionDenied) as caught:
        await s.call(amount=3)
    assert caught.value.code == "changed-meanwhile"
    assert (s.questions, s.runs) == (2, 0)


async def test_a_filter_that_asks_meanwhile_has_to_be_answered(tmp_path: Path) -> None:
    class Unsure:
        def classify(self, name: str, input: Any) -> Confirm:
            return Confirm(reason="odd")

    s = Stage(tmp_path, FINANCE)
    s.people.answers = [lambda: s.service.set_smart_filter(Unsure()), ANN, EVE]
    await s.call(amount=3)
    assert s.people.asked == [("pay-out",), ("filter",)]
    assert s.runs == 1


async def test_another_call_than_the_approved_one_does_not_run_even_where_it_is_allowed_now(
    tmp_path: Path,
) -> None:
    s = Stage(tmp_path, FINANCE, tools=(CountingHandler("pay"),))
    given = {"amount": 1}

    def turn() -> None:
        s.edit("pay-out: allow pay\n")
        given["amount"] = 1_000

    s.people.answers = [turn, ANN, EVE]
    with pytest.raises(PermissionDenied):
        await s.service.execute("pay", given)
    assert [request.input["amount"] for request in s.people.requests] == [1, 1_000]
    assert s.runs == 0


async def test_the_same_call_runs_once_nothing_asks_about_it_any_more(tmp_path: Path) -> None:
    s = Stage(tmp_path, FINANCE)
    s.people.answers = [lambda: s.edit("pay-out: allow pay\n"), ANN]
    await s.call(amount=3)
    assert (s.questions, s.runs) == (1, 1)


async def test_where_a_path_leads_is_part_of_what_is_approved(tmp_path: Path) -> None:
    rules, work = tmp_path / "rules", tmp_path / "work"
    rules.mkdir()
    work.mkdir()
    for name in ("a", "b"):
        (work / name).write_text(name)
    link = work / "link"
    link.symlink_to(work / "a")
    (rules / "global.policy").write_text(
        HEADER + "read: allow file_read when reads only workspace with approval\n"
    )

    def turn() -> None:
        link.unlink()
        link.symlink_to(work / "b")

    people = People(turn, EVE, EVE)
    service = build_tool_service(PolicyStore(rules), approver=people, workspace=work)
    output = await service.execute("file_read", {"path": "link"})
    assert [request.resources for request in people.requests] == [
        (f"reads {work}/{name} (through {link})",) for name in ("a", "b")
    ]
    assert "b" in str(output.value)


async def test_a_judge_that_asks_without_saying_why_is_asked_about(tmp_path: Path) -> None:
    class Mute(FakeGeneration):
        def answer(self, *args: Any, **more: Any) -> Any:
            found = super().answer(*args, **more)
            return replace(found, decision=structs.replace(found.decision, reasons=()))

    s = Stage(tmp_path, FINANCE, EVE)
    handler = CountingHandler("echo")
    store = FakeStore(Mute(lambda call, facts: Verdict.ASK))
    service = build_tool_service(store, tools=[handler], approver=s.people)
    await service.execute("echo", {})
    assert (s.questions, handler.calls) == (1, 1)


class Between(SqliteApprovals):
    """Lets something happen when all is answered and decided, just before the call would run."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.happens: Callable[[], object] = lambda: None

    async def give(self, grant: Grant) -> None:
        await super().give(grant)
        self.happens()


@pytest.mark.parametrize("description", ["", "pays everybody"])
async def test_a_tool_exchanged_after_the_last_look_runs_only_if_it_is_the_same_one(
    description: str, tmp_path: Path
) -> None:
    ledger = Between()
    s = Stage(
        tmp_path, "pay-out: allow pay with approval remember 1h up to 2 times\n", ANN, ledger=ledger
    )
    new = CountingHandler("pay", description=description)

    def exchange() -> None:
        entry = s.service.registry.snapshot().get("pay")
        assert entry is not None
        s.service.replace(entry, new)

    ledger.happens = exchange
    if not description:
        assert await s.call(amount=3) == {"amount": 3}
        assert (new.calls, s.runs) == (1, 0)
        return
    with pytest.raises(PermissionDenied) as refused:
        await s.call(amount=3)
    assert refused.value.code == "changed-meanwhile"
    assert (new.calls, s.runs) == (0, 0)


def _listing(folder: Path, *members: str) -> None:
    names = ", ".join(f'"{name}"' for name in members)
    text = f"[approvals.groups]\nfinance = [{names}]\n"
    (folder / "placet.toml").write_text(text, encoding="utf-8")


def _listed(name: str) -> Approved:
    return Approved(by=name, groups=("finance",), listed=True)


async def test_who_leaves_the_group_before_the_call_runs_has_not_answered(tmp_path: Path) -> None:
    _listing(tmp_path, "ann", "bob")

    def leave() -> None:
        _listing(tmp_path, "bob")
        s.store.reload()

    s = Stage(tmp_path, FINANCE, leave, _listed("ann"), _listed("bob"))
    await s.call(n=1)
    assert (s.questions, s.runs) == (2, 1)
    assert {by for outcome, by, _ in s.approvals if outcome == "approved"} == {"ann", "bob"}


async def test_two_people_are_two_who_are_in_the_group_when_the_call_runs(tmp_path: Path) -> None:
    _listing(tmp_path, "ann", "bob")

    def leave() -> None:
        _listing(tmp_path, "bob")
        s.store.reload()

    s = Stage(tmp_path, TWO, _listed("ann"), leave, _listed("bob"), NO)
    with pytest.raises(PermissionDenied):
        await s.call(n=1)
    assert s.runs == 0


async def test_groups_that_a_program_vouches_for_are_not_looked_up(tmp_path: Path) -> None:
    _listing(tmp_path, "bob")
    s = Stage(tmp_path, FINANCE, Approved(by="ann", groups=("finance",)))
    await s.call(n=1)
    assert s.runs == 1


async def test_a_standing_approval_serves_only_while_its_people_are_in_the_group(
    tmp_path: Path,
) -> None:
    _listing(tmp_path, "ann", "bob")
    s = Stage(tmp_path, FINANCE.rstrip() + " remember 1h up to 5 times\n", _listed("ann"), NO)
    await s.call(n=1)
    await s.call(n=1)
    assert (s.questions, s.runs) == (1, 2)
    _listing(tmp_path, "bob")
    s.store.reload()
    with pytest.raises(PermissionDenied):
        await s.call(n=1)
    assert (s.questions, s.runs) == (2, 2)
