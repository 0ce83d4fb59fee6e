"""Rules about earlier calls, in a service as users build it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.model import Caller, PermissionDenied, ToolError
from policy.service import (
    ApprovalRequest,
    Approved,
    GovernedService,
    SessionLogUnusable,
    SqliteSessionLog,
    tool,
)

RULES = """policy for every agent

default deny
label untrusted on results of fetch
tools: allow fetch, mail, fail, note
after-page: deny mail after untrusted because "a page may have dictated it"
after-failure: deny note after fail
first: allow pay after note
"""


@tool
def fetch(url: str) -> str:
    """Fetch a page."""
    return f"the page at {url}"


@tool
def mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


@tool
def note() -> str:
    """Take a note."""
    return "noted"


@tool
def pay() -> str:
    """Pay."""
    return "paid"


@tool
def fail() -> str:
    """Fail."""
    raise RuntimeError("no")


def store_of(folder: Path, rules: str = RULES) -> policy.PolicyStore:
    (folder / "rules").mkdir()
    (folder / "rules" / "all.policy").write_text(rules)
    return policy.PolicyStore(folder / "rules")


def service_over(
    store: policy.PolicyStore, folder: Path, *more: Any, **settings: Any
) -> GovernedService:
    (folder / "work").mkdir()
    return policy.build_tool_service(
        store,
        tools=[fetch, mail, note, pay, fail, *more],
        workspace=folder / "work",
        **settings,
    )


async def said(service: GovernedService, name: str, input: Mapping[str, Any]) -> str:
    try:
        return str((await service.execute(name, input)).value)
    except ToolError as error:
        return str(error.code)


async def test_a_rule_sees_what_the_session_did_before(tmp_path: Path) -> None:
    service = service_over(store_of(tmp_path), tmp_path)
    assert await said(service, "mail", {"to": "ada"}) == "sent to ada"
    assert await said(service, "fetch", {"url": "u"}) == "the page at u"
    with pytest.raises(PermissionDenied, match="a page may have dictated it"):
        await service.execute("mail", {"to": "ada"})
    other = service.bound_to(Caller(session="other"))
    assert await said(other, "mail", {"to": "ada"}) == "sent to ada"


async def test_a_call_that_was_denied_is_no_part_of_the_history(tmp_path: Path) -> None:
    service = service_over(store_of(tmp_path), tmp_path)
    assert await said(service, "pay", {}) == "not-allowed"
    assert await said(service, "note", {}) == "noted"
    assert await said(service, "pay", {}) == "paid"


async def test_a_call_that_failed_may_have_had_its_effect(tmp_path: Path) -> None:
    service = service_over(store_of(tmp_path), tmp_path)
    assert await said(service, "fail", {}) == "execution"
    assert await said(service, "note", {}) == "not-understood"


async def test_sub_agents_share_the_history_of_their_tree(tmp_path: Path) -> None:
    service = service_over(store_of(tmp_path), tmp_path)
    root = Caller(session="root")
    helper = Caller(agent="helper", session="helper", parent=root)
    assert await said(service.bound_to(helper), "fetch", {"url": "u"}) == "the page at u"
    assert await said(service.bound_to(root), "mail", {"to": "ada"}) == "denied-by-policy"


async def test_the_history_outlives_an_edit_of_the_rules(tmp_path: Path) -> None:
    without_label = "\n".join(line for line in RULES.splitlines() if "untrusted" not in line)
    store = store_of(tmp_path, without_label)
    service = service_over(store, tmp_path)
    assert await said(service, "fetch", {"url": "u"}) == "the page at u"
    assert await said(service, "mail", {"to": "ada"}) == "sent to ada"
    (tmp_path / "rules" / "all.policy").write_text(RULES)
    store.reload()
    assert await said(service, "mail", {"to": "ada"}) == "denied-by-policy"


async def test_a_call_is_decided_again_after_people_were_asked(tmp_path: Path) -> None:
    rules = RULES.replace("fetch, mail, fail", "fetch, fail") + "asked: allow mail with approval\n"
    service: GovernedService

    class Approver:
        async def ask(self, request: ApprovalRequest) -> Approved:
            await service.execute("fetch", {"url": "u"})
            return Approved(by="grace")

    service = service_over(store_of(tmp_path, rules), tmp_path, approver=Approver())
    assert await said(service, "mail", {"to": "ada"}) == "denied-by-policy"


async def test_a_call_that_others_overtake_is_decided_again(tmp_path: Path) -> None:
    rules = RULES + (
        "tool post connects to input.url\n"
        "post: allow post\n"
        "inside: deny post when connects to private\n"
        "post-after-page: deny post after untrusted\n"
    )
    asked, fetched = asyncio.Event(), asyncio.Event()

    async def look_up(name: str) -> tuple[str, ...]:
        asked.set()
        await fetched.wait()
        return ("93.184.216.34",)

    @tool
    def post(url: str) -> str:
        """Post something."""
        return "posted"

    service = service_over(store_of(tmp_path, rules), tmp_path, post, look_up=look_up)
    posting = asyncio.create_task(said(service, "post", {"url": "https://a.example/"}))
    await asked.wait()
    assert await said(service, "fetch", {"url": "u"}) == "the page at u"
    fetched.set()
    assert await posting == "denied-by-policy"


async def test_a_history_in_a_file_outlives_the_service(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    (tmp_path / "rules" / "placet.toml").write_text("[history]\nstore = '../history.sqlite'\n")
    store.reload()
    first = service_over(store, tmp_path)
    assert await said(first, "fetch", {"url": "u"}) == "the page at u"
    second = policy.build_tool_service(store, tools=[mail], workspace=tmp_path / "work")
    assert await said(second, "mail", {"to": "ada"}) == "denied-by-policy"
    assert (tmp_path / "history.sqlite").exists()


async def test_nothing_runs_that_cannot_be_noted(tmp_path: Path) -> None:
    log = SqliteSessionLog(tmp_path / "history.sqlite")
    service = service_over(store_of(tmp_path), tmp_path, sessions=log)
    assert await said(service, "fetch", {"url": "u"}) == "the page at u"
    log.path.unlink()
    assert await said(service, "fetch", {"url": "u"}) == "history-unavailable"
    # What cannot be read is not known: a `deny` about it applies, an `allow` does not.
    assert await said(service, "mail", {"to": "ada"}) == "history-unavailable"
    assert await said(service, "pay", {}) == "history-unavailable"


async def test_a_call_that_was_never_made_is_no_fact_that_is_not_known(tmp_path: Path) -> None:
    rules = """policy for every agent

default deny
tools: allow mail, note
bad: deny note when latest(c in calls(mail): c.input.to == "eve").result == "sent"
"""
    service = service_over(store_of(tmp_path, rules), tmp_path)
    assert await said(service, "mail", {"to": "ada"}) == "sent to ada"
    with pytest.raises(PermissionDenied) as refused:
        await service.execute("note", {})
    assert refused.value.code == "not-understood"
    assert refused.value.message.endswith("and there is no such call")
    assert refused.value.decision is not None
    (reason, *_) = refused.value.decision.deciding
    assert reason.undecided == "there is no such call"


async def test_a_history_that_cannot_be_read_is_one_code_whatever_rule_asks(tmp_path: Path) -> None:
    rules = """policy for every agent

default deny
tools: allow fetch, fail
after-page: deny mail after fetch because "a page may have dictated it"
words: deny note unless input.text named by user
make: allow mail, note, pay
few: limit pay to 9
never: deny fail because "it fails"
both: deny fail after fetch
"""

    @tool
    def note(text: str) -> str:
        """Take a note."""
        return text

    log = SqliteSessionLog(tmp_path / "history.sqlite")
    service = policy.build_tool_service(
        store_of(tmp_path, rules), tools=[fetch, mail, note, pay, fail], sessions=log
    )
    log.path.unlink()
    with pytest.raises(PermissionDenied) as refused:
        await service.execute("mail", {"to": "ada"})
    assert (refused.value.code, refused.value.message) == (
        "history-unavailable",
        "the call cannot be noted in the history of its session: it cannot be read",
    )
    for name, input in {"note": {"text": "x"}, "pay": {}, "fetch": {"url": "u"}}.items():
        assert await said(service, name, input) == "history-unavailable", name
    # Nothing else is told of a call that is denied for certain.
    assert await said(service, "fail", {}) == "denied-by-policy"


def test_a_history_that_cannot_be_opened_stops_the_start(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    (tmp_path / "history.sqlite").write_text("no database")
    (tmp_path / "rules" / "placet.toml").write_text("[history]\nstore = '../history.sqlite'\n")
    store.reload()
    with pytest.raises(SessionLogUnusable, match="not a database"):
        service_over(store, tmp_path)


async def test_no_tool_writes_the_history(tmp_path: Path) -> None:
    rules = "policy for every agent\n\ndefault deny\nwrite: allow file_write\n"
    store = store_of(tmp_path, rules)
    (tmp_path / "work").mkdir()
    log = SqliteSessionLog(tmp_path / "work" / "history.sqlite")
    service = policy.build_tool_service(store, workspace=tmp_path / "work", sessions=log)
    for name in ("history.sqlite", "history.sqlite-wal"):
        with pytest.raises(PermissionDenied) as denied:
            await service.execute("file_write", {"path": name, "content": ""})
        assert denied.value.decision is not None
        assert {reason.rule for reason in denied.value.decision.deciding} == {"floor"}
    log.close()
