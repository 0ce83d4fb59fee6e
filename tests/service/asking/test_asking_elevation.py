"""Elevation: approval in advance, for named tools, a duration and a number of calls."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from policy import Caller
from policy.approvals import Approved, Grant, SqliteApprovals
from policy.catalog import Origin
from policy.model import GuestScope, PermissionDenied, ToolError, ValidationFailed
from policy.service import build_tool_service
from policy.tools import ToolDefinition
from tests.fakes import BrokenSink, CountingHandler, spec_of
from tests.service.asking.stage import ANN, BOB, CYD, EVE, NO, Stage

RULES = """
pay-out: allow pay_* with approval by "finance"
mail-out: allow mail with approval
odd: ask mail when input.size > 5
"""


def tools() -> tuple[CountingHandler, ...]:
    return tuple(CountingHandler(name) for name in ("pay_in", "pay_out", "mail"))


def stage(folder: Path, rules: str, *answers: Any, **more: Any) -> Stage:
    return Stage(folder, rules, *answers, tools=tools(), **more)


async def elevated(s: Stage, **more: Any) -> Grant:
    given: dict[str, Any] = {
        "tools": ("pay_*",),
        "seconds": 600,
        "times": 3,
        "because": "the month ends",
        **more,
    }
    return await s.service.elevate(**given)


async def test_an_elevation_lets_calls_through_until_its_uses_are_gone(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN, EVE, EVE)
    grant = await elevated(s)
    assert (grant.kind, grant.uses, grant.people) == ("elevation", 3, ANN.people)
    await s.call("pay_in", amount=1)
    await s.call("pay_out", amount=2)
    await s.call("mail", size=1)
    await s.call("pay_in", amount=3)
    assert (s.questions, s.runs) == (2, 4)
    with pytest.raises(PermissionDenied):
        await s.call("pay_in", amount=3)
    assert s.questions == 3


async def test_an_elevation_ends_with_its_time(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN, EVE)
    await elevated(s)
    s.clock.move(seconds=599)
    await s.call("pay_in", amount=1)
    s.clock.move(seconds=1)
    with pytest.raises(PermissionDenied):
        await s.call("pay_in", amount=1)


async def test_the_question_says_what_would_be_let_through_and_why(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN)
    await elevated(s, because="the month \u202eends")
    (request,) = s.people.requests
    assert request.kind == "elevation"
    assert request.tool == "pay_*"
    assert request.input["times"] == 3
    assert request.resources == ("lets pay_* through, for 600 seconds, at most 3 calls",)
    assert "\\u{202e}" in request.shown
    assert request.reasons[0].message == "the month \u202eends"


async def test_elevations_and_what_they_serve_are_on_record(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN)
    grant = await elevated(s)
    given = s.last
    assert (given.tool, given.outcome) == ("placet:elevate", "ok")
    assert given.input["tools"] == ("pay_*",)  # type: ignore[index,call-overload]
    assert [(one.by, one.grant) for one in given.approvals] == [("ann", grant.id)]
    await s.call("pay_in", amount=1)
    (approval,) = s.last.approvals
    assert (approval.outcome, approval.by, approval.grant) == ("approved", "ann", grant.id)
    assert approval.rules == ("pay-out",)
    assert await s.service.revoke(grant.id) is not None
    assert (s.last.tool, s.last.input) == ("placet:revoke", {"grant": grant.id, "found": True})


@pytest.mark.parametrize("answer", [NO, None, ValueError(), Approved(by=" ")])
async def test_an_elevation_that_nobody_gives_is_denied(answer: Any, tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, answer)
    with pytest.raises(PermissionDenied):
        await elevated(s)
    assert s.last.outcome == "denied"
    assert await s.standing() == ()


async def test_without_an_approver_there_is_no_elevation(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES)
    s.service.set_approver(None)
    with pytest.raises(PermissionDenied) as caught:
        await elevated(s)
    assert caught.value.code == "no-approver"


async def test_a_refused_elevation_is_not_asked_for_again_in_other_words(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, NO, ANN)
    for because in ("the month ends", "please"):
        with pytest.raises(PermissionDenied):
            await elevated(s, because=because)
    assert s.questions == 1


async def test_elevations_count_against_the_questions_of_a_session(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN, ANN, asks_per_session=1)
    await elevated(s)
    with pytest.raises(PermissionDenied) as caught:
        await elevated(s, times=4)
    assert caught.value.code == "too-many-questions"


@pytest.mark.parametrize(
    "bounds",
    [
        {"tools": ()},
        {"tools": ("*",)},
        {"tools": ("pay_*", "?*")},
        {"tools": ("*_*",)},
        {"tools": ("*e*",)},
        {"tools": ("p*y*",)},
        {"tools": ("[a-z]*",)},
        {"tools": ("",)},
        {"tools": (7,)},
        {"tools": ("a" * 500,)},
        {"tools": tuple(f"t{n}" for n in range(30))},
        {"seconds": 0},
        {"seconds": -1},
        {"seconds": float("inf")},
        {"seconds": float("nan")},
        {"seconds": 10**9},
        {"seconds": True},
        {"seconds": "600"},
        {"times": 0},
        {"times": 1_000_000},
        {"times": None},
        {"times": 2.0},
        {"times": True},
        {"because": None},
        {"because": "x" * 5_000},
    ],
)
async def test_nobody_is_asked_for_what_is_not_bounded(
    bounds: dict[str, Any], tmp_path: Path
) -> None:
    s = stage(tmp_path, RULES, ANN)
    with pytest.raises(ValidationFailed):
        await elevated(s, **bounds)
    assert s.questions == 0
    assert s.last.outcome == "refused"


async def test_a_single_text_is_a_single_pattern(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN)
    assert (await elevated(s, tools="pay_in")).tools == ("pay_in",)


# --- what it does not lift -------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules",
    [
        "pay-out: allow pay_* with approval\nno: deny pay_in\n",
        "other: allow mail\n",
        'pay-out: allow pay_* with approval by "legal"\n',
        "pay-out: allow pay_* with approval two people\n",
        'pay-out: allow pay_* with approval\nmore: ask pay_in by "legal"\n',
        "pay-out: allow pay_*\nodd: ask pay_in when input.amount > 5\n",
    ],
)
async def test_it_lifts_only_what_its_people_may_answer(rules: str, tmp_path: Path) -> None:
    s = stage(tmp_path, rules, ANN, NO)
    await elevated(s)
    with pytest.raises(PermissionDenied):
        await s.call("pay_in", amount="not a number")
    assert s.runs == 0
    (grant,) = await s.standing()
    assert grant.uses == 3


async def test_it_lifts_two_people_where_two_gave_it(tmp_path: Path) -> None:
    rules = 'pay-out: allow pay_* with approval by "finance", "legal" two people\n'
    s = stage(tmp_path, rules, Approved(by="ann", groups=("finance",), with_=CYD.people))
    await elevated(s)
    await s.call("pay_in", amount=1)
    assert (s.questions, s.runs) == (1, 1)
    assert [approval.by for approval in s.last.approvals] == ["ann", "cyd"]


async def test_what_it_does_not_answer_is_asked_and_the_rest_is_charged(tmp_path: Path) -> None:
    rules = 'pay-out: allow pay_* with approval by "finance"\nmore: ask pay_in by "legal"\n'
    s = stage(tmp_path, rules, ANN, CYD)
    await elevated(s)
    await s.call("pay_in", amount=1)
    assert s.people.asked[1] == ("more",)
    assert {(by, rule) for _, by, rule in s.approvals} == {
        ("ann", ("pay-out",)),
        ("cyd", ("more",)),
    }
    (grant,) = await s.standing()
    assert grant.uses == 2


async def test_one_call_is_one_use_however_many_rules_it_answers(tmp_path: Path) -> None:
    rules = 'pay-out: allow pay_* with approval by "finance"\nmore: ask pay_in\n'
    s = stage(tmp_path, rules, ANN)
    await elevated(s)
    await s.call("pay_in", amount=1)
    (grant,) = await s.standing()
    assert grant.uses == 2


@pytest.mark.parametrize(
    "caller",
    [
        Caller(agent="child", parent=Caller()),
        Caller(agent="default", parent=Caller()),
        Caller(session="another"),
        Caller(user="ada"),
    ],
)
async def test_it_serves_no_other_caller_and_no_sub_agent(caller: Caller, tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN, EVE)
    await elevated(s)
    with pytest.raises(PermissionDenied):
        await s.call("pay_in", by=caller, amount=1)
    assert s.questions == 2


async def test_it_gives_a_guest_nothing_beyond_its_scope(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN)
    guest = Caller(role="guest", scope=GuestScope(allowed_tools=("mail",)))
    bound = s.service.bound_to(guest)
    await bound.elevate(("pay_*",), seconds=60, times=3)
    with pytest.raises(PermissionDenied) as caught:
        await bound.execute("pay_in", {})
    assert caught.value.code == "outside-scope"


EXPIRED = GuestScope(allowed_tools=("*",), expires_at=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("caller", "code"),
    [
        (Caller(role="anonymous"), "unknown-caller"),
        (Caller(role="guest"), "outside-scope"),
        (Caller(role="guest", scope=EXPIRED), "outside-scope"),
        (Caller(parent=Caller(role="anonymous")), "unknown-caller"),
    ],
)
async def test_who_may_call_nothing_bothers_nobody(
    caller: Caller, code: str, tmp_path: Path
) -> None:
    s = stage(tmp_path, RULES, ANN)
    with pytest.raises(PermissionDenied) as caught:
        await s.service.bound_to(caller).elevate(("pay_*",), seconds=60, times=3)
    assert caught.value.code == code
    assert (s.questions, await s.standing()) == (0, ())
    assert (s.last.tool, s.last.outcome, s.last.code) == ("placet:elevate", "denied", code)


async def test_an_elevation_that_is_given_up_while_it_is_kept_is_not_given(tmp_path: Path) -> None:
    class Slow(SqliteApprovals):
        """Keeps a grant all the same, as a store with a thread of its own does."""

        async def give(self, grant: Grant) -> None:
            await super().give(grant)
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)

    s = stage(tmp_path, RULES, ANN, ledger=Slow(":memory:"))
    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(elevated(s))
    assert s.last.outcome == "cancelled"
    assert await s.standing() == ()


class OfServer(CountingHandler):
    """A tool of a server, under a name that a pattern for the host's tools fits."""

    def __init__(self, server: str, tool: str, *, pinned: bool = True) -> None:
        super().__init__(f"{server}__{tool}")
        origin = Origin(kind="mcp", server=server, tool=tool)
        given = spec_of(f"{server}__{tool}", pinned=pinned)
        self._spec = replace(given, origin=origin)

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(name=self._spec.name, source="mcp")


@pytest.mark.parametrize(
    ("patterns", "pinned", "served"),
    [
        (("pay_*",), True, False),
        (("pay_co__*",), True, True),
        (("pay_co__send",), True, True),
        (("pay_co__send",), False, False),
    ],
)
async def test_a_wildcard_reaches_no_server_and_nothing_unreviewed(
    patterns: tuple[str, ...], pinned: bool, served: bool, tmp_path: Path
) -> None:
    rules = "out: allow mcp pay_co/send with approval\n"
    s = Stage(tmp_path, rules, ANN, NO, tools=(OfServer("pay_co", "send", pinned=pinned),))
    await elevated(s, tools=patterns)
    if served:
        await s.call("pay_co__send")
    else:
        with pytest.raises(PermissionDenied):
            await s.call("pay_co__send")
    assert s.runs == int(served)


async def test_a_revoked_elevation_serves_no_more(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN, EVE)
    grant = await elevated(s)
    assert await s.service.revoke(grant.id) == grant
    assert await s.service.revoke(grant.id) is None
    with pytest.raises(PermissionDenied):
        await s.call("pay_in", amount=1)


async def test_an_elevation_that_cannot_be_recorded_is_none(tmp_path: Path) -> None:
    s = stage(tmp_path, RULES, ANN)
    service = build_tool_service(
        s.store,
        tools=tools(),
        approver=s.people,
        approvals=s.ledger,
        audit=BrokenSink(),
        clock=s.clock,
    )
    with pytest.raises(ToolError):
        await service.elevate(("pay_*",), seconds=60, times=3)
    assert s.questions == 1
    assert await s.standing() == ()


async def test_the_same_answer_is_good_for_both_kinds_at_once(tmp_path: Path) -> None:
    rules = (
        'pay-out: allow pay_* with approval by "finance" remember 1h up to 2 times\n'
        'more: ask pay_in by "legal" remember 1h up to 2 times\n'
    )
    s = stage(tmp_path, rules, CYD, BOB)
    await elevated(s)
    await s.call("pay_in", amount=1)
    kinds = {grant.kind: grant.uses for grant in await s.standing()}
    assert kinds == {"elevation": 2, "remembered": 1}
    await s.call("pay_in", amount=1)
    assert {grant.kind: grant.uses for grant in await s.standing()} == {"elevation": 1}
    assert s.questions == 2
