"""`placet approvals`: lists pending requests, and records people's answers."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from policy.approvals import ApprovalRequest, Grant, Person, SqliteApprovals
from policy.cli import person
from policy.cli.approvals import listing
from policy.generation import ApprovalSettings, approvals_path
from policy.model import Caller, Reason, Terms, Verdict
from tests.unit.cli.running import Ran, rules_in, run

pytestmark = pytest.mark.people

NOW = datetime.now(UTC)
SETTINGS = '[approvals]\nstore = "../s/a.sqlite"\n[approvals.groups]\nfinance = ["ada"]\n'


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(person, "_user", lambda: "ada")
    return rules_in(tmp_path, placet__toml=SETTINGS)


def asked(id: str, *, session: str = "s1", **terms: Any) -> ApprovalRequest:
    reason = Reason(
        rule="pay", verdict=Verdict.ASK, file="global.policy", line=3, terms=Terms(**terms)
    )
    return ApprovalRequest(
        id=id,
        tool="file_delete",
        input={"path": f"{id}\u202e.txt"},
        shown="",
        reasons=(reason,),
        resources=(f"writes /srv/{id}",),
        digest=f"sha256:{id}",
        caller=Caller(agent="coder", session=session),
        asked_at=NOW,
        expires=NOW + timedelta(days=1),
    )


def file(rules: Path, *requests: ApprovalRequest, grants: tuple[Grant, ...] = ()) -> None:
    async def put() -> None:
        async with SqliteApprovals(rules.parent / "s" / "a.sqlite") as store:
            for request in requests:
                await store.file(request, request.id, now=NOW)
            for grant in grants:
                await store.give(grant)

    asyncio.run(put())


def state(rules: Path, id: str) -> str:
    return str(json.loads(run("approvals", "show", id, rules, "--format", "json").out)["state"])


def grant(id: str) -> Grant:
    return Grant(
        id=id,
        kind="elevation",
        key="k",
        caller="c",
        session="s1",
        people=(Person(id="ada"),),
        tools=("file_*",),
        uses=3,
        given_at=NOW,
        # Far enough from a whole day that no run is too slow for it.
        expires=NOW + timedelta(days=2, hours=12),
    )


def test_before_anything_was_asked_nothing_waits(rules: Path) -> None:
    store = rules.parent / "s" / "a.sqlite"
    assert run("approvals", rules).out == f"no request is pending in {store}\n"
    grants = f"no standing approval is in force in {store}\n"
    assert run("approvals", "grants", rules).out == grants
    assert json.loads(run("approvals", "list", rules, "--format", "json").out) == {"questions": []}
    ran = run("approvals", "approve", "a1", rules)
    assert (ran.code, ran.out) == (2, "")
    assert "there have been no requests yet" in ran.err
    assert not (rules.parent / "s").exists()


def test_questions_are_listed_oldest_first_and_by_session(rules: Path) -> None:
    file(rules, asked("aa11"), asked("aa22", session="s2"), asked("bb33", groups=("finance",)))
    ran = run("approvals", "list", rules)
    head, *lines = _requests(ran)
    assert head.split() == ["ID", "AGE", "LEFT", "AGENT", "TOOL", "ACCESS", "BY"]
    assert [line.split()[0] for line in lines] == ["aa11", "aa22", "bb33"]
    assert lines[2].endswith("writes /srv/bb33  somebody of finance")
    only = run("approvals", rules, "--session", "s2")
    assert [line.split()[0] for line in _requests(only)[1:]] == ["aa22"]
    record = json.loads(run("approvals", rules, "--format", "json").out)["questions"][2]
    assert record["reasons"][0]["approval"] == {"by": ["finance"]}
    assert record["caller"][0]["agent"] == "coder"


def _requests(ran: Ran) -> list[str]:
    """Return the lines of a list that are not about an input."""
    return [line for line in ran.out.splitlines() if not line.startswith(" ")]


def test_the_input_stands_below_what_is_accessed_escaped_and_shortened(rules: Path) -> None:
    many = {"customer": "ada\u202e\n", "note": "x" * 1000, "amount": 30}
    more = {f"field{number}": number for number in range(20)}
    file(
        rules,
        replace(asked("aa11"), input=many),
        replace(asked("aa22"), input=more),
        replace(asked("aa33"), input={}),
    )
    _, access, first, _, second, _, third = run("approvals", "list", rules).out.splitlines()
    assert "writes /srv/aa11" in access
    assert first.startswith(r'  input customer = "ada\u{202e}\n", note = "xxx')
    assert first.endswith("…[+942], amount = 30")
    assert second.startswith("  input field0 = 0, ")
    assert second.endswith("and 12 more")
    assert third == "  without any input"


def test_a_beginning_names_a_question_while_no_other_has_it(rules: Path) -> None:
    file(rules, asked("aa11"), asked("aa22"), asked("aa"))
    shown = run("approvals", "show", "aa1", rules)
    assert shown.out.startswith("coder wants to run file_delete\n  writes /srv/aa11\n")
    assert 'input path = "aa11\\u{202e}.txt"' in shown.out
    assert run("approvals", "show", "aa", rules).code == 0
    for wrong in ("a", "zz", ""):
        assert run("approvals", "show", wrong, rules).code == 2


def test_an_answer_is_given_in_the_name_of_the_user_with_its_groups(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file(rules, asked("a1", groups=("finance",), two_people=True), asked("b1", groups=("other",)))
    assert run("approvals", "approve", "a1", rules).out.startswith("noted: ")
    again = run("approvals", "approve", "a1", rules)
    assert (again.code, again.out) == (1, "")
    assert run("approvals", "approve", "b1", rules).code == 1
    monkeypatch.setattr(person, "_user", lambda: "bob")
    refused = run("approvals", "approve", "a1", rules)
    assert refused.code == 1
    assert "(`[approvals.groups]` in `placet.toml` has finance: ada)" in refused.err
    # The groups are those of the file as it is now.
    (rules / "placet.toml").write_text(SETTINGS.replace('["ada"]', '["ada", "bob"]'), "utf-8")
    assert run("approvals", "approve", "a1", rules).out.startswith("approved: ")
    record = json.loads(run("approvals", "show", "a1", rules, "--format", "json").out)
    assert [person["id"] for person in record["agreed"]] == ["ada", "bob"]


def test_an_answer_counts_only_while_its_person_is_in_the_group(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def members(*names: str) -> None:
        listed = json.dumps(names)
        (rules / "placet.toml").write_text(SETTINGS.replace('["ada"]', listed), "utf-8")

    def approve_as(name: str) -> str:
        monkeypatch.setattr(person, "_user", lambda: name)
        return run("approvals", "approve", "a1", rules).out

    file(rules, asked("a1", groups=("finance",), two_people=True))
    members("ada", "bob", "cyd")
    assert approve_as("ada").startswith("noted: ")
    assert "ada of finance" in run("approvals", "show", "a1", rules).out
    members("bob", "cyd")
    assert "ada of finance" not in run("approvals", "show", "a1", rules).out
    assert approve_as("bob").startswith("noted: ")
    assert approve_as("cyd").startswith("approved: ")


def test_nobody_can_claim_to_be_somebody_else(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for name in ("USER", "LOGNAME", "SUDO_USER", "USERNAME"):
        monkeypatch.setenv(name, "ada")
    assert person.person_of(None).id == person._user() != "ada"
    assert run("approvals", "approve", "a1", rules, "--as", "ada").code == 2


def test_a_denial_takes_a_message_and_is_final(rules: Path) -> None:
    file(rules, asked("a1"))
    assert run("approvals", "deny", "a1", rules, "--message", "not\x1b[2Jtoday").code == 0
    assert "denied by ada: not\\u{1b}[2Jtoday" in run("approvals", "show", "a1", rules).out
    assert run("approvals", "approve", "a1", rules).code == 1
    assert run("approvals", "deny", "a1", rules, "--message", "x" * 2_000).code == 2


def test_somebody_who_may_not_approve_may_deny(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file(rules, asked("a1", groups=("finance",)))
    monkeypatch.setattr(person, "_user", lambda: "bob")
    assert run("approvals", "approve", "a1", rules).code == 1
    assert run("approvals", "deny", "a1", rules).code == 0
    assert "denied by bob" in run("approvals", "show", "a1", rules).out


def test_all_questions_of_a_session_are_denied_at_once(rules: Path) -> None:
    file(rules, asked("a1"), asked("a2"), asked("b1", session="s2"))
    for wrong in (
        ("deny", "--all", str(rules)),
        ("deny", "--session", "s1", str(rules)),
        ("deny",),
    ):
        assert run("approvals", *wrong).code == 2, wrong
    assert state(rules, "a1") == "pending"
    assert run("approvals", "deny", "--session", "s1", "--all", rules).out == (
        "denied: 2 requests of session s1\n"
    )
    assert (state(rules, "a1"), state(rules, "b1")) == ("denied", "pending")


@pytest.mark.parametrize("command", ["approve", "deny", "revoke"])
def test_what_a_tool_call_has_started_answers_nothing(
    rules: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    file(rules, asked("a1"), grants=(grant("a1"),))
    for value in ("bash_exec", ""):
        monkeypatch.setenv("PLACET_CALL", value)
        ran = run("approvals", command, "a1", rules)
        assert (ran.code, ran.out) == (2, "")
        assert "is for people" in ran.err
    assert state(rules, "a1") == "pending"
    assert "a1" in run("approvals", "grants", rules).out


def test_standing_approvals_are_shown_and_taken_back(rules: Path) -> None:
    file(rules, grants=(grant("9c8b"), grant("9cff")))
    lines = run("approvals", "grants", rules).out.splitlines()
    id, _, *rest = lines[1].split()
    assert (id, rest) == ("9c8b", ["2d", "3", "s1", "ada", "file_*"])
    assert run("approvals", "revoke", "9c", rules).code == 2
    assert run("approvals", "revoke", "9c8", rules).out == "revoked: file_* in session s1\n"
    left = json.loads(run("approvals", "grants", rules, "--format", "json").out)["grants"]
    assert [one["id"] for one in left] == ["9cff"]
    assert run("approvals", "revoke", "9c8b", rules).code == 2


def test_answers_can_be_given_while_rules_are_being_mended(rules: Path) -> None:
    file(rules, asked("a1"))
    (rules / "global.policy").write_text("policy for every agent\n\nallow allow\n", "utf-8")
    assert run("approvals", "show", "a1", rules).code == 0
    assert run("approvals", "propose", "a1", rules).code == 1
    assert run("approvals", "approve", "a1", rules).code == 0


def test_a_configuration_that_is_wrong_is_shown_and_nothing_answered(rules: Path) -> None:
    file(rules, asked("a1"))
    (rules / "placet.toml").write_text(SETTINGS + "[approvals.grups]\n", "utf-8")
    ran = run("approvals", "approve", "a1", rules)
    assert (ran.code, ran.out) == (1, "")
    assert "unknown-setting" in ran.err


def test_a_file_that_is_no_store_is_left_alone(rules: Path) -> None:
    store = rules.parent / "s" / "a.sqlite"
    store.parent.mkdir()
    store.write_text("something else, and long enough to be looked into\n" * 20, "utf-8")
    before = store.read_bytes()
    for command in (["list"], ["show", "a"], ["approve", "a"]):
        ran = run("approvals", *command, rules)
        assert (ran.code, ran.out) == (2, "")
    assert store.read_bytes() == before


def test_a_misspelt_command_is_no_path(rules: Path) -> None:
    ran = run("approvals", "aprove", "a1", rules)
    assert ran.code == 2
    assert "Did you mean 'approve'?" in ran.err


@pytest.mark.parametrize(
    "command", ["list", "show", "approve", "deny", "propose", "grants", "revoke"]
)
def test_every_command_shows_examples(command: str) -> None:
    ran: Ran = run("approvals", command, "--help")
    assert ran.code == 0
    assert f"placet approvals {command}" in ran.out


def test_without_a_name_the_store_is_one_of_this_user_and_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    one, other = rules_in(tmp_path), tmp_path / "other"
    other.mkdir()
    link = tmp_path / "link"
    link.symlink_to(one)
    place = approvals_path(one, None)
    assert place.is_relative_to(tmp_path / "state" / "placet")
    assert (
        place
        == approvals_path(link, ApprovalSettings())
        == approvals_path(one / "global.policy", None)
    )
    assert place != approvals_path(other, None)
    assert approvals_path(one, ApprovalSettings(store="/var/a.sqlite")) == Path("/var/a.sqlite")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert approvals_path(one, None).is_relative_to(os.path.expanduser("~/.local/state/placet"))


def test_a_watched_list_is_shown_again_when_it_changes(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file(rules, asked("a1"))
    looks = iter(range(4))

    def pause(seconds: float) -> None:
        look = next(looks)
        if look == 1:
            file(rules, asked("b1"))
        if look == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(listing, "pause", pause)
    ran = run("approvals", "list", rules, "--watch")
    assert ran.code == 130
    assert [line.split()[0] for line in _requests(ran)] == ["ID", "a1", "ID", "a1", "b1"]
