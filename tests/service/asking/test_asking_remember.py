"""Which calls a remembered answer serves: `remember DURATION|session [for …] [up to N times]`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from policy import Caller, PolicyStore
from policy.approvals import ApprovalGate, Filed, Grant, Ledger, SqliteApprovals
from policy.model import PermissionDenied
from policy.service import GovernedService, build_tool_service
from policy.tools import ExecutionContext, builtin_handlers
from tests.fakes import CountingHandler, FakeClock
from tests.service.asking.stage import ANN, BOB, CYD, EVE, HEADER, NO, People, Slow, Stage

THRICE = 'pay-out: allow pay with approval by "finance" remember 1h up to 3 times\n'
BY_NAME = THRICE.replace("1h", "1h for input.to")
SESSION = THRICE.replace("1h up", "session up")


async def test_one_answer_serves_as_many_executions_as_the_rule_says(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN, ANN)
    for _ in range(3):
        await s.call(amount=1)
    assert (s.questions, s.runs) == (1, 3)
    await s.call(amount=1)
    assert (s.questions, s.runs) == (2, 4)


async def test_the_record_of_a_call_says_which_standing_approval_served_it(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN)
    await s.call(amount=1)
    assert s.last.approvals[0].grant is None
    (grant,) = await s.standing()
    assert (grant.kind, grant.uses, grant.people) == ("remembered", 2, ANN.people)
    assert grant.request == s.people.requests[0].id
    await s.call(amount=1)
    (approval,) = s.last.approvals
    assert (approval.outcome, approval.by, approval.rules) == ("approved", "ann", ("pay-out",))
    assert approval.grant == grant.id
    assert approval.digest == s.people.requests[0].digest


async def test_up_to_one_time_is_one_execution(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE.replace("3", "1"), ANN, ANN)
    await s.call(amount=1)
    assert await s.standing() == ()
    await s.call(amount=1)
    assert s.questions == 2


async def test_without_a_number_it_serves_as_long_as_it_lasts(tmp_path: Path) -> None:
    handler = CountingHandler("look", read_only=True)
    rules = "look-up: allow look with approval remember 1h\n"
    s = Stage(tmp_path, rules, EVE, EVE, tools=(handler,))
    for _ in range(10):
        await s.call("look", at=1)
    assert s.questions == 1
    s.clock.move(hours=1)
    await s.call("look", at=1)
    assert s.questions == 2


@pytest.mark.parametrize(
    ("rules", "first", "second", "served"),
    [
        (THRICE, {"to": "a", "n": 1}, {"to": "a", "n": 1}, True),
        (THRICE, {"to": "a", "n": 1}, {"n": 1, "to": "a"}, True),
        (THRICE, {"to": "a", "n": 1}, {"to": "a", "n": 2}, False),
        (THRICE, {"to": "a"}, {"to": "a", "n": None}, False),
        (BY_NAME, {"to": "a", "n": 1}, {"to": "a", "n": 2}, True),
        (BY_NAME, {"to": "a", "n": 1}, {"to": "b", "n": 1}, False),
        (BY_NAME, {"to": "a"}, {}, False),
        (BY_NAME, {"n": 1}, {"n": 2}, True),
        (BY_NAME, {}, {"to": None}, False),
        (BY_NAME, {}, {"to": ""}, False),
        (BY_NAME, {}, {"to": {"absent": True}}, False),
        (BY_NAME, {"to": 1}, {"to": True}, False),
        (BY_NAME, {"to": 1}, {"to": "1"}, False),
        (BY_NAME, {"to": ["a", "b"]}, {"to": ["b", "a"]}, False),
        (BY_NAME.replace("input.to", "input.to.id"), {"to": [{"id": 1}]}, {"to": {"id": 1}}, False),
        (
            BY_NAME.replace("input.to", "input.to.id"),
            {"to": [{"id": 1, "x": 1}, {"id": 2}]},
            {"to": [{"id": 1}, {"id": 2}], "n": 1},
            True,
        ),
        (BY_NAME.replace("input.to", "input.to.id"), {"to": "a"}, {"to": "a"}, False),
        (BY_NAME.replace("input.to", "input.to, input.n"), {"to": 1, "n": 2}, {"to": 1}, False),
    ],
)
async def test_it_serves_the_same_call_or_calls_equal_in_the_named_fields(
    rules: str, first: dict[str, Any], second: dict[str, Any], served: bool, tmp_path: Path
) -> None:
    s = Stage(tmp_path, rules, ANN, ANN)
    await s.call(**first)
    await s.call(**second)
    assert s.questions == (1 if served else 2)


WRITING = """
write:
  allow file_write, write_all when writes only workspace
  with approval
  remember 1h for {fields} up to 9 times
tool write_all writes input.files[*].path and nothing else
"""


class Disk:
    """A service with the built-in tools in a workspace, and one that writes several files."""

    def __init__(
        self, folder: Path, fields: str = "input.path", *, ledger: Ledger | None = None
    ) -> None:
        rules = folder / "rules"
        rules.mkdir(exist_ok=True)
        (rules / "global.policy").write_text(HEADER + WRITING.format(fields=fields))
        self.ledger = SqliteApprovals(":memory:") if ledger is None else ledger
        self.people = People(ANN, ANN)
        self.store = PolicyStore(rules)
        self.many = CountingHandler("write_all", complete=False)

    def at(self, workspace: Path) -> GovernedService:
        workspace.mkdir(exist_ok=True)
        return build_tool_service(
            self.store,
            tools=[*builtin_handlers(), self.many],
            workspace=workspace,
            approver=self.people,
            approvals=self.ledger,
        )

    @property
    def questions(self) -> int:
        return len(self.people.requests)


async def test_a_path_that_became_a_link_is_another_file(tmp_path: Path) -> None:
    disk, work = Disk(tmp_path), tmp_path / "work"
    service = disk.at(work)
    await service.execute("file_write", {"path": "a.txt", "content": "1"})
    await service.execute("file_write", {"path": "a.txt", "content": "2"})
    assert disk.questions == 1
    (work / "precious.txt").write_text("old")
    (work / "a.txt").unlink()
    (work / "a.txt").symlink_to("precious.txt")
    disk.people.answers = [NO]
    with pytest.raises(PermissionDenied):
        await service.execute("file_write", {"path": "a.txt", "content": "3"})
    assert disk.questions == 2
    assert (work / "precious.txt").read_text() == "old"


async def test_a_path_in_another_workspace_is_another_file(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    for workspace, questions in (("one", 1), ("one", 1), ("two", 2)):
        service = disk.at(tmp_path / workspace)
        await service.execute("file_write", {"path": "a.txt", "content": "1"})
        assert disk.questions == questions


async def test_only_the_named_fields_have_to_lead_to_the_same(tmp_path: Path) -> None:
    disk, work = Disk(tmp_path, "input.files.name"), tmp_path / "work"
    service = disk.at(work)
    for path in ("a.txt", "b.txt"):
        await service.execute("write_all", {"files": [{"name": "x", "path": path}]})
    assert disk.questions == 1
    named = Disk(tmp_path, "input.files.path")
    service = named.at(work)
    for note in (1, 2):
        await service.execute("write_all", {"files": [{"path": "a.txt"}], "note": note})
    assert named.questions == 1
    (work / "a.txt").symlink_to("b.txt")
    await service.execute("write_all", {"files": [{"path": "a.txt"}]})
    assert named.questions == 2


@pytest.mark.parametrize(
    "caller",
    [
        Caller(agent="other"),
        Caller(session="other"),
        Caller(user="ada"),
        Caller(groups=("admins",)),
        Caller(parent=Caller()),
    ],
)
async def test_another_caller_is_asked_about_anew(caller: Caller, tmp_path: Path) -> None:
    s = Stage(tmp_path, SESSION, ANN, ANN)
    await s.call(amount=1)
    await s.call(by=caller, amount=1)
    assert s.questions == 2


@pytest.mark.parametrize(
    "rules",
    [
        THRICE.replace("finance", "legal"),
        THRICE.replace("3", "4"),
        THRICE.replace("1h", "2h"),
        THRICE.replace("with approval", "when input.amount < 9 with approval"),
    ],
)
async def test_an_edit_of_the_rule_ends_it(rules: str, tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN, BOB)
    await s.call(amount=1)
    s.edit(rules)
    await s.call(amount=1)
    assert s.questions == 2


async def test_a_rule_that_is_only_moved_is_the_same_rule(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN)
    await s.call(amount=1)
    s.edit("# moved down\n\n" + THRICE)
    await s.call(amount=1)
    assert s.questions == 1


async def test_another_definition_of_the_tool_ends_it(tmp_path: Path) -> None:
    s = Stage(tmp_path, SESSION, ANN, ANN)
    await s.call(amount=1)
    entry = s.service.registry.snapshot()["pay"]
    s.service.replace(entry, CountingHandler("pay", description="pays twice"))
    await s.call(amount=1)
    assert s.questions == 2


async def test_each_rule_remembers_what_was_answered_to_it(tmp_path: Path) -> None:
    rules = THRICE + 'check: ask pay by "legal"\n'
    s = Stage(tmp_path, rules, BOB, CYD)
    await s.call(amount=1)
    await s.call(amount=1)
    assert [set(rules) for rules in s.people.asked] == [{"pay-out", "check"}, {"check"}]
    assert {(by, rules) for _, by, rules in s.approvals} == {
        ("bob", ("pay-out",)),
        ("cyd", ("check",)),
    }


async def test_two_people_are_remembered_together(tmp_path: Path) -> None:
    rules = THRICE.replace('"finance"', '"finance", "legal" two people')
    s = Stage(tmp_path, rules, ANN, CYD)
    await s.call(amount=1)
    await s.call(amount=1)
    assert (s.questions, s.runs) == (2, 2)
    assert [by for _, by, _ in s.approvals] == ["ann", "cyd"]


async def test_what_could_not_be_decided_is_never_remembered(tmp_path: Path) -> None:
    rules = "out: allow pay\ncheck: ask pay when input.amount > 5 remember 1h up to 9 times\n"
    s = Stage(tmp_path, rules, EVE, EVE)
    for _ in range(2):
        await s.call(amount="much")
    assert s.questions == 2
    assert await s.standing() == ()


async def test_nothing_is_remembered_of_what_did_not_run(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE)
    s.people.answers = [lambda: s.edit(THRICE + "stop: deny pay\n"), ANN]
    with pytest.raises(PermissionDenied):
        await s.call(amount=1)
    assert await s.standing() == ()


async def test_a_refused_call_is_not_served_by_what_was_approved_of_its_like(
    tmp_path: Path,
) -> None:
    s = Stage(tmp_path, BY_NAME, NO, ANN)
    with pytest.raises(PermissionDenied):
        await s.call(to="a", n=1)
    await s.call(to="a", n=2)
    await s.call(to="a", n=3)
    with pytest.raises(PermissionDenied):
        await s.call(to="a", n=1)
    assert (s.questions, s.runs) == (2, 2)
    (grant,) = await s.standing()
    assert grant.uses == 1


async def test_a_use_is_charged_whatever_becomes_of_the_tool(tmp_path: Path) -> None:
    async def fails(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        raise ValueError

    s = Stage(tmp_path, THRICE, ANN, ANN, tools=(CountingHandler("pay", fails),))
    for _ in range(4):
        with pytest.raises(Exception, match="pay failed"):
            await s.call(amount=1)
    assert s.questions == 2


async def test_calls_at_once_never_run_more_often_than_was_approved(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN, *[NO] * 50)
    await s.call(amount=1)
    ended = await asyncio.gather(*(s.call(amount=1) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(one, PermissionDenied) for one in ended) == 18
    assert s.runs == 3


# --- time ------------------------------------------------------------------------------------


async def test_it_ends_with_its_time(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN, ANN)
    await s.call(amount=1)
    s.clock.move(minutes=59, seconds=59)
    await s.call(amount=1)
    assert s.questions == 1
    s.clock.move(seconds=1)
    await s.call(amount=1)
    assert s.questions == 2


async def test_a_clock_that_steps_back_revives_nothing(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN, EVE, EVE)
    await s.call(amount=1)
    s.clock.move(hours=1)
    with pytest.raises(PermissionDenied):
        await s.call(amount=1)
    s.clock.move(minutes=-30)
    with pytest.raises(PermissionDenied):
        await s.call(amount=1)
    assert (s.questions, s.runs) == (3, 1)


async def test_a_clock_that_steps_back_lets_nothing_last_longer(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN, EVE)
    await s.call(amount=1)
    s.clock.move(hours=-2)
    with pytest.raises(PermissionDenied):
        await s.call(amount=1)
    s.clock.move(hours=2, minutes=1)
    await s.call(amount=1)
    assert (s.questions, s.runs) == (2, 2)


async def test_for_the_rest_of_the_session_no_clock_matters(tmp_path: Path) -> None:
    s = Stage(tmp_path, SESSION, ANN)
    await s.call(amount=1)
    s.clock.move(days=30)
    await s.call(amount=1)
    s.clock.move(days=-60)
    await s.call(amount=1)
    assert s.questions == 1


# --- the ledger ------------------------------------------------------------------------------


async def test_it_survives_a_restart_where_the_ledger_does(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    first = Stage(tmp_path / "rules", SESSION, ANN, ledger=SqliteApprovals(tmp_path / "a.db"))
    await first.call(amount=1)
    again = Stage(tmp_path / "rules", SESSION, ledger=SqliteApprovals(tmp_path / "a.db"))
    await again.call(amount=1)
    await again.call(amount=1)
    assert again.questions == 0


async def test_what_people_gave_who_may_not_answer_serves_nothing(tmp_path: Path) -> None:
    class Forged(SqliteApprovals):
        async def grants(self, caller: str, *, now: Any) -> tuple[Grant, ...]:
            found = await super().grants(caller, now=now)
            return tuple(replace(grant, people=EVE.people) for grant in found)

    s = Stage(tmp_path, THRICE, ANN, ANN, ledger=Forged(":memory:"))
    await s.call(amount=1)
    await s.call(amount=1)
    assert s.questions == 2


@pytest.mark.parametrize("broken", ["count", "refused", "note_refusal", "grants", "give", "spend"])
async def test_nothing_runs_while_the_ledger_fails(broken: str, tmp_path: Path) -> None:
    ledger = SqliteApprovals(":memory:")
    s = Stage(tmp_path, THRICE, NO, ANN, ledger=ledger)
    with pytest.raises(PermissionDenied):
        await s.call(amount=0)
    if broken == "spend":
        await s.call(amount=1)
    runs = s.runs

    async def fails(*args: Any, **more: Any) -> Any:
        raise OSError("disk gone")

    setattr(ledger, broken, fails)
    s.people.answers = [NO if broken == "note_refusal" else ANN]
    with pytest.raises(PermissionDenied) as caught:
        await s.call(amount=1)
    assert caught.value.code == "approval-failed"
    assert "disk" not in caught.value.message
    assert s.runs == runs


async def test_a_call_served_by_what_stands_asks_nobody_though_there_is_nobody(
    tmp_path: Path,
) -> None:
    s = Stage(tmp_path, THRICE, ANN)
    await s.call(amount=1)
    s.service.set_approver(None)
    await s.call(amount=1)
    assert s.runs == 2
    with pytest.raises(PermissionDenied) as caught:
        await s.call(amount=2)
    assert caught.value.code == "no-approver"


async def test_the_last_use_lost_to_another_call_is_asked_about_anew(tmp_path: Path) -> None:
    class Late(SqliteApprovals):
        """Somebody else takes the last use between the look and the charge."""

        async def spend(self, ids: tuple[str, ...], *, now: Any) -> bool:
            return False

    s = Stage(tmp_path, THRICE, ANN, ANN, ledger=Late(":memory:"))
    await s.call(amount=1)
    await s.call(amount=1)
    assert (s.questions, s.runs) == (2, 2)


async def test_people_who_wait_do_not_keep_others_from_what_stands(tmp_path: Path) -> None:
    s = Stage(tmp_path, THRICE, ANN)
    await s.call(amount=1)
    slow = Slow()
    s.service.set_approver(slow)
    waiting = asyncio.ensure_future(s.call(amount=2))
    _, answer = await slow.next()
    await s.call(amount=1)
    assert s.runs == 2
    answer.set_result(ANN)
    await waiting
    assert s.runs == 3


# Equal as JSON, and different for a tool.
ALIKE = [(1, 1.0), (1.0, 1), (0.0, -0.0), (0, -0.0), (10**20, 1e20), ([1], [1.0])]


@pytest.mark.parametrize(("approved", "given"), ALIKE)
@pytest.mark.parametrize("rule", [THRICE, THRICE.replace("1h", "1h for input.amount")])
async def test_an_answer_does_not_serve_a_number_that_the_tool_tells_from_it(
    rule: str, approved: Any, given: Any, tmp_path: Path
) -> None:
    s = Stage(tmp_path, rule, ANN, ANN)
    await s.call(amount=approved)
    await s.call(amount=approved)
    assert (s.questions, s.runs) == (1, 2)
    await s.call(amount=given)
    assert (s.questions, s.runs) == (2, 3)


@pytest.mark.parametrize(("refused", "given"), ALIKE)
async def test_a_refusal_holds_for_the_number_however_it_is_written(
    refused: Any, given: Any, tmp_path: Path
) -> None:
    s = Stage(tmp_path, THRICE, NO)
    for amount in (refused, given):
        with pytest.raises(PermissionDenied):
            await s.call(amount=amount)
    assert (s.questions, s.runs) == (1, 0)
    first, second = s.sink.records
    assert first.input_digest == second.input_digest


async def test_two_calls_that_a_tool_tells_apart_are_two_questions(tmp_path: Path) -> None:
    desk = SqliteApprovals(":memory:")
    gate = ApprovalGate(desk, clock=FakeClock())
    s = Stage(tmp_path, THRICE, approver=gate, ledger=desk)
    put: asyncio.Queue[Filed] = asyncio.Queue()
    gate.subscribe(put.put_nowait)
    calls = [asyncio.create_task(s.call(amount=amount)) for amount in (1, 1.0)]
    async with asyncio.timeout(60):
        asked = [await put.get() for _ in calls]
    assert {repr(filed.request.input["amount"]) for filed in asked} == {"1", "1.0"}
    assert len(await gate.pending()) == 2
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
