"""`placet sessions`, after calls through a service that keeps its history in a store."""

from __future__ import annotations

import asyncio
import getpass
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import policy
from policy.generation import HistorySettings
from policy.model import CalledTool, Caller, PermissionDenied, ReleasedCall
from policy.service import open_stored_log, tool
from tests.redis_server import MISSING, RedisServer
from tests.unit.cli.running import run

RULES = """policy for every agent

default deny
read: allow mail_read
send: allow mail_send unless after tainted
few: limit mail_read to 5 per session
label tainted on results of mail_read
"""
DESK = Caller(session="desk", user="ada")


@tool
def mail_read() -> str:
    """Read a mail."""
    return "found"


@tool
def mail_send() -> str:
    """Send a mail."""
    return "sent"


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    if MISSING:
        pytest.skip(MISSING)
    with closing(RedisServer()) as started:
        yield started


@pytest.fixture(params=["sqlite", "redis"])
def rules(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    folder = tmp_path / "rules"
    folder.mkdir()
    store = "../history.sqlite"
    if request.param == "redis":
        server: RedisServer = request.getfixturevalue("server")
        store = server.url
        with server.client() as client:
            client.flushall()
    (folder / "all.policy").write_text(RULES)
    settings = f'[history]\nstore = "{store}"\nclear = ["{getpass.getuser()}"]\n'
    (folder / "placet.toml").write_text(f'{settings}[service]\naudit = "../audit.jsonl"\n')
    return folder


def call(rules: Path, name: str, caller: Caller = DESK) -> str:
    """Make a call through a new service; return `ran` or the code."""
    service = policy.build_tool_service(
        policy.PolicyStore(rules), tools=[mail_read, mail_send], workspace=rules.parent / "work"
    )
    try:
        asyncio.run(service.bound_to(caller).execute(name, {}))
    except PermissionDenied as denied:
        return str(denied.code)
    return "ran"


def records(rules: Path) -> list[dict[str, object]]:
    text = (rules.parent / "audit.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_a_session_is_listed_and_shown(rules: Path) -> None:
    assert run("sessions", "list", rules).out == "no sessions are kept\n"
    assert call(rules, "mail_read") == "ran"
    listed = run("sessions", "list", rules)
    assert listed.code == 0
    assert listed.out.startswith("desk of ada: latest call 20")
    shown = run("sessions", "show", "desk", "--rules", rules)
    assert "  mail_read: succeeded 20" in shown.out
    record = run("sessions", "show", "desk", "--rules", rules, "--format", "json").record
    assert record["sessions"] == [{"user": "ada", "session": "desk"}]
    assert [one["tool"] for one in record["tools"]] == ["mail_read"]


@pytest.mark.people
def test_clearing_lifts_a_label_and_no_charge(rules: Path) -> None:
    assert [call(rules, name) for name in ("mail_send", "mail_read", "mail_send")] == [
        "ran",
        "ran",
        "not-allowed",
    ]
    cleared = run("sessions", "clear", "desk", "--because", "a drill", "--rules", rules)
    assert (cleared.code, cleared.out, cleared.err) == (0, "cleared: desk\n", "")
    assert call(rules, "mail_send") == "ran"
    assert "1 of 5 used" in run("limits", rules).out
    found = [one for one in records(rules) if one["tool"] == "placet:clear-session"]
    assert [(one["verdict"], one["outcome"]) for one in found] == [("allow", "ok")]
    assert "a drill" in json.dumps(found)


@pytest.mark.people
def test_calls_that_run_stay_unless_they_are_named(rules: Path) -> None:
    store = policy.PolicyStore(rules).current
    assert isinstance(store, policy.Generation)
    log = open_stored_log(str(store.settings.history.store), HistorySettings())
    with closing(log):
        fetch = ReleasedCall(tool=CalledTool(name="mail_read", kind="host"))
        assert log.release(DESK, fetch, judged_by=None) is not None
    cleared = run("sessions", "clear", "desk", "--because", "x", "--rules", rules)
    assert "1 call still running; --running forgets them too" in cleared.err
    assert call(rules, "mail_send") == "not-allowed"
    run("sessions", "clear", "desk", "--because", "x", "--running", "--rules", rules)
    assert call(rules, "mail_send") == "ran"


@pytest.mark.people
def test_only_people_who_are_named_may_clear(rules: Path) -> None:
    assert call(rules, "mail_read") == "ran"
    settings = rules / "placet.toml"
    settings.write_text(settings.read_text().replace(f'["{getpass.getuser()}"]', '["nobody-else"]'))
    refused = run("sessions", "clear", "desk", "--because", "x", "--rules", rules)
    assert refused.code == 1
    assert "`[history] clear` in placet.toml does not name this person" in refused.err
    assert call(rules, "mail_send") == "not-allowed"
    found = [one for one in records(rules) if one["tool"] == "placet:clear-session"]
    assert [one["verdict"] for one in found] == ["deny"]


@pytest.mark.people
def test_what_cannot_be_recorded_is_not_cleared(rules: Path) -> None:
    assert call(rules, "mail_read") == "ran"
    settings = rules / "placet.toml"
    settings.write_text(settings.read_text().partition("[service]")[0])
    refused = run("sessions", "clear", "desk", "--because", "x", "--rules", rules)
    assert refused.code == 2
    assert "set `[service] audit`" in refused.err
    assert call(rules, "mail_send") == "not-allowed"


def test_a_session_is_named_with_its_user_where_several_have_it(rules: Path) -> None:
    for user in ("ada", None):
        call(rules, "mail_read", Caller(session="desk", user=user))
    several = run("sessions", "show", "desk", "--rules", rules)
    assert (several.code, several.out) == (2, "")
    assert "several users have a session desk: name one with --user (ada, no user)" in several.err
    assert run("sessions", "show", "desk", "--user", "ada", "--rules", rules).code == 0
    unknown = run("sessions", "show", "dsk", "--rules", rules)
    assert "no session dsk is known" in unknown.err


def test_sessions_in_memory_cannot_be_shown(tmp_path: Path) -> None:
    (tmp_path / "all.policy").write_text(RULES)
    refused = run("sessions", "list", tmp_path)
    assert refused.code == 2
    assert "set `[history] store` in placet.toml" in refused.err


def test_show_says_which_calls_and_messages_are_not_kept_and_why(rules: Path) -> None:
    kept = policy.load(rules).settings.history
    log = open_stored_log(str(kept.store), replace(kept, message_bytes=100))
    with closing(log):
        log.hear(DESK, ("the secret plan", "x" * 101), missed=False)
        fetch = ReleasedCall(tool=CalledTool(name="fetch", kind="host"))
        log.finish(log.release(DESK, fetch, judged_by=None), "ok")  # type: ignore[arg-type]
    shown = run("sessions", "show", "desk", "--rules", rules).out
    assert "what the user wrote: 1 message kept; a message of the user had more than" in shown
    assert "not all are kept one by one: no rule read them when they were made" in shown
    assert "secret" not in shown
    record = run("sessions", "show", "desk", "--rules", rules, "--format", "json").record
    assert record["said"]["messages"] == 1
    assert "no rule read them" in record["tools"][0]["not_kept"]


@pytest.mark.parametrize("more", [("show",), ("clear", "--because", "a drill")])
def test_a_policy_as_an_argument_is_told_its_option(more: tuple[str, ...], tmp_path: Path) -> None:
    name, *options = more
    ran = run("sessions", name, "desk", tmp_path / "my rules", *options)
    assert ran.code == 2
    assert f"the policy is an option: --rules '{tmp_path}/my rules'" in ran.err
