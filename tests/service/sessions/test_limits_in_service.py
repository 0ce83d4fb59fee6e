"""Limits, in a service as users build it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.model import Caller, PermissionDenied, ToolError
from policy.service import (
    Allow,
    ApprovalRequest,
    Approved,
    GovernedService,
    SqliteSessionLog,
    tool,
)
from policy.service import Rewrite as NewInput
from policy.values import addresses_in

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RULES = """policy for every agent

default deny
tools: allow search, pay, broken
asked: allow mail with approval
few: limit search to 3 per minute per session because "think before you search"
spend: limit pay to 100 of amount per day per user
mails: limit mail to 1 per input.to
""".replace("of amount", "of input.amount")


# More values than one call may charge, written in each way in which a call can name them.
MANY = 501


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@tool
async def search(query: str) -> str:
    """Search."""
    await asyncio.sleep(0)
    return f"found {query}"


@tool
def pay(amount: float) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
def mail(to: list[str]) -> str:
    """Send a mail."""
    return "sent"


@tool
def broken() -> str:
    """Fail."""
    raise RuntimeError("no")


def service_of(
    folder: Path, rules: str = RULES, *, clock: Clock | None = None, **settings: Any
) -> tuple[policy.PolicyStore, GovernedService]:
    (folder / "rules").mkdir(exist_ok=True)
    (folder / "work").mkdir(exist_ok=True)
    (folder / "rules" / "all.policy").write_text(rules)
    store = policy.PolicyStore(folder / "rules")
    service = policy.build_tool_service(
        store,
        tools=[search, pay, mail, broken],
        workspace=folder / "work",
        clock=clock or Clock(),
        **settings,
    )
    return store, service


async def said(service: GovernedService, name: str, input: Mapping[str, Any]) -> str:
    try:
        return str((await service.execute(name, input)).value)
    except ToolError as error:
        return str(error.code)


async def searches(service: GovernedService, number: int) -> list[str]:
    calls = (said(service, "search", {"query": str(n)}) for n in range(number))
    return sorted(await asyncio.gather(*calls))


async def test_parallel_calls_never_exceed_a_limit(tmp_path: Path) -> None:
    _, service = service_of(tmp_path)
    ended = await searches(service, 20)
    assert ended.count("limit-reached") == 17
    other = service.bound_to(Caller(session="other"))
    assert (await searches(other, 4)).count("limit-reached") == 1


async def test_a_refusal_says_in_how_many_seconds_there_is_room(tmp_path: Path) -> None:
    clock = Clock()
    _, service = service_of(tmp_path, clock=clock)
    await searches(service, 3)
    clock.now += timedelta(seconds=12.5)
    with pytest.raises(PermissionDenied) as denied:
        await service.execute("search", {"query": "x"})
    assert denied.value.code == "limit-reached"
    assert denied.value.wait == 47.5
    assert denied.value.message == "think before you search; there is room again in 48 seconds"
    clock.now += timedelta(seconds=47.5)
    assert await said(service, "search", {"query": "x"}) == "found x"
    # A clock that is set back frees nothing.
    clock.now -= timedelta(days=1)
    assert (await searches(service, 3)).count("limit-reached") == 3


async def test_sub_agents_share_the_budget_of_their_session(tmp_path: Path) -> None:
    _, service = service_of(tmp_path)
    root = Caller(session="root")
    helpers = [Caller(agent=f"h{n}", session=f"h{n}", parent=root) for n in range(4)]
    ended = [await said(service.bound_to(one), "search", {"query": "q"}) for one in helpers]
    assert ended.count("limit-reached") == 1
    assert await said(service.bound_to(root), "search", {"query": "q"}) == "limit-reached"


async def test_amounts_add_up_exactly_for_each_user(tmp_path: Path) -> None:
    _, service = service_of(tmp_path)
    ada = service.bound_to(Caller(user="ada"))
    for _ in range(3):
        assert await said(ada, "pay", {"amount": 33.3}) == "paid 33.3"
    assert await said(ada, "pay", {"amount": 0.11}) == "limit-reached"
    assert await said(ada, "pay", {"amount": 0.1}) == "paid 0.1"
    with pytest.raises(PermissionDenied, match="is negative") as denied:
        await ada.execute("pay", {"amount": -5})
    assert denied.value.code == "denied-by-policy"
    bob = service.bound_to(Caller(user="bob"))
    assert await said(bob, "pay", {"amount": 100}) == "paid 100.0"


async def test_an_edit_of_name_number_window_and_tools_frees_nothing(tmp_path: Path) -> None:
    store, service = service_of(tmp_path)
    await searches(service, 3)
    edited = RULES.replace(
        "few: limit search to 3 per minute", "less: limit search, pay to 4 per hour"
    )
    (tmp_path / "rules" / "all.policy").write_text(edited)
    store.reload()
    assert (await searches(service, 3)).count("limit-reached") == 2


async def test_a_limit_denies_before_people_are_asked(tmp_path: Path) -> None:
    asked: list[Any] = []

    class Approver:
        async def ask(self, request: ApprovalRequest) -> Approved:
            asked.append(request)
            return Approved(by="grace")

    _, service = service_of(tmp_path, approver=Approver())
    assert await said(service, "mail", {"to": ["Ada@corp.example", "bob@corp.example"]}) == "sent"
    assert await said(service, "mail", {"to": ["ada@corp.example"]}) == "limit-reached"
    assert len(asked) == 1


async def test_a_failed_call_stays_charged_and_a_refused_one_is_not(tmp_path: Path) -> None:
    rules = RULES + "tries: limit broken to 1\n"
    _, service = service_of(tmp_path, rules)
    assert await said(service, "broken", {"nothing": 1}) == "validation-failed"
    assert await said(service, "broken", {}) == "execution"
    assert await said(service, "broken", {}) == "limit-reached"


async def test_a_call_that_a_host_changes_is_charged_as_it_runs(tmp_path: Path) -> None:
    class Cap:
        def evaluate(self, tool: str, input: Mapping[str, Any], ctx: object) -> NewInput | Allow:
            if tool == "pay" and input["amount"] > 10:
                return NewInput({"amount": 10.0})
            return Allow()

    _, service = service_of(tmp_path)
    service.set_rules([Cap()])
    for _ in range(5):
        assert await said(service, "pay", {"amount": 50}) == "paid 10.0"
    # 50 are charged: as it was asked there is no room, as it would run there is.
    assert await said(service, "pay", {"amount": 51}) == "limit-reached"
    assert await said(service, "pay", {"amount": 10}) == "paid 10.0"


async def test_a_file_that_cannot_be_written_runs_nothing_uncharged(tmp_path: Path) -> None:
    log = SqliteSessionLog(tmp_path / "history.sqlite")
    _, service = service_of(tmp_path, sessions=log)
    assert await said(service, "search", {"query": "q"}) == "found q"
    log._connection.execute("PRAGMA query_only=ON")
    assert await said(service, "search", {"query": "q"}) == "history-unavailable"
    (tmp_path / "history.sqlite").unlink()
    assert await said(service, "search", {"query": "q"}) == "history-unavailable"
    log.close()


async def test_a_shadow_limit_is_listed_and_denies_nothing(tmp_path: Path) -> None:
    store, service = service_of(tmp_path, RULES.replace("few: limit", "few: shadow limit"))
    assert "limit-reached" not in await searches(service, 5)
    (tmp_path / "rules" / "all.policy").write_text(RULES)
    store.reload()
    assert await said(service, "search", {"query": "q"}) == "limit-reached"


async def test_an_edit_that_makes_a_limit_count_something_else_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, service = service_of(tmp_path)
    await searches(service, 3)
    for edited, told in (
        (RULES.replace("few: limit search to 3", "less: limit search to 1"), False),
        (RULES.replace("per minute per session", "per minute per user"), True),
        (RULES.replace("per minute per session", "per minute"), True),
        (RULES.replace("few: limit search", "few: limit search, pay"), True),
        (RULES.replace("few: limit search", "other: limit search"), False),
    ):
        caplog.clear()
        (tmp_path / "rules" / "all.policy").write_text(edited)
        store.reload()
        assert ("counts something else" in caplog.text) is told, edited


async def test_what_is_logged_is_true_of_a_limit_that_counts_again_what_it_counted_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, service = service_of(tmp_path)
    await searches(service, 3)
    for edited in (RULES.replace("per minute per session", "per minute per user"), RULES):
        caplog.clear()
        (tmp_path / "rules" / "all.policy").write_text(edited)
        store.reload()
    assert "under that policy does not count any more" in caplog.text
    assert "nothing" not in caplog.text
    assert await said(service, "search", {"query": "q"}) == "limit-reached"


@pytest.mark.parametrize(
    "to",
    [
        [f"a{number}@x.example" for number in range(MANY)],
        [", ".join(f"a{number}@x.example" for number in range(MANY))],
    ],
    ids=["a list", "addresses in one string"],
)
async def test_a_call_charges_a_bounded_number_of_budgets_or_is_denied(
    tmp_path: Path, to: list[str]
) -> None:
    rules = RULES.replace("asked: allow mail with approval", "asked: allow mail")
    _, service = service_of(tmp_path, rules)
    with pytest.raises(PermissionDenied, match="more than 500 values at once"):
        await service.execute("mail", {"to": to})
    few = to[:-1] if len(to) > 1 else [to[0].rpartition(", ")[0]]
    assert (await service.execute("mail", {"to": few})).value == "sent"
    with pytest.raises(PermissionDenied, match="a limit is used up"):
        await service.execute("mail", {"to": few[-1:]})


@pytest.mark.parametrize(
    "to",
    [
        [f"x{number}" + "y" * 7_000 for number in range(490)],
        [f"x{number}" + "\u0323\u0301" * 1_900 for number in range(490)],
        ["\ufdfa" * 1_200],
        ["7" * 3_900_000],
        [f"{number}" + "0" * 4_000 for number in range(490)],
        [", ".join(f"{'a' * 500}{number}@x.example" for number in range(490))],
    ],
    ids=["letters", "marks", "one letter for eighteen", "one value", "digits", "addresses"],
)
async def test_what_a_call_is_counted_by_has_a_bounded_length_or_it_is_denied(
    tmp_path: Path, to: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = RULES.replace("asked: allow mail with approval", "asked: allow mail")
    _, service = service_of(tmp_path, rules + "again: limit mail to 9 per day per input.to\n")
    read = _characters_read(monkeypatch)
    with pytest.raises(PermissionDenied, match=r"values of more than 100,000 characters"):
        await service.execute("mail", {"to": to})
    assert sum(read) == 0


@pytest.mark.parametrize(
    "name", ["{}@mail.example-company.example", "Ольга Петровна {}", "山田太郎 {}", "Zoë {}"]
)
async def test_a_call_for_many_people_is_counted_once_whatever_they_are_called(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = RULES.replace("asked: allow mail with approval", "asked: allow mail")
    _, service = service_of(tmp_path, rules + "again: limit mail to 9 per day per input.to\n")
    read = _characters_read(monkeypatch)
    people = [name.format(number) for number in range(490)]
    assert (await service.execute("mail", {"to": people})).value == "sent"
    once = sum(map(len, people))
    assert 0 < sum(read) <= 2 * once
    with pytest.raises(PermissionDenied, match="a limit is used up"):
        await service.execute("mail", {"to": people[-1:]})


def _characters_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many characters are looked through for addresses, which every string is."""
    read: list[int] = []

    def noting(text: str) -> tuple[str, ...]:
        read.append(len(text))
        return addresses_in(text)

    monkeypatch.setattr("policy.evaluation.budget_values.addresses_in", noting)
    return read
