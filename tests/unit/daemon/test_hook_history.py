"""Rules about earlier calls of a session, as hooks are asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from policy.daemon.context import HookContext
from policy.daemon.decider import Decider
from policy.daemon.request import Request
from policy.generation import state_folder
from tests.unit.daemon.deciding import decided, hook_input, request

POLICY = """\
policy for every agent

default deny

pages: allow web_fetch
read: allow file_read when reads only workspace
write: allow file_write when writes only workspace
write-after-page: ask file_write after web_fetch because "a page may have dictated it"
never: deny web_fetch when input.url == "https://no.example/"
"""
PAGE = ("WebFetch", {"url": "https://a.example/", "prompt": "read it"})
NOTE = ("Write", {"file_path": "a.txt", "content": "x"})


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    for name in ("rules", "project", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "rules" / "global.policy").write_text(POLICY, "utf-8")
    return tmp_path / "rules"


def verdict(rules: Path, call: tuple[str, Any], **more: Any) -> str:
    """Return what a new process of the hook answers to a call."""
    text = hook_input(rules, "claude-code", *call, **more)
    answer = decided(request(rules, "claude-code", text, workspace=str(rules.parent / "project")))
    said: dict[str, str] = json.loads(answer.stdout)["hookSpecificOutput"]
    return said["permissionDecision"]


def test_a_call_that_went_on_may_have_had_its_effect(rules: Path) -> None:
    assert verdict(rules, NOTE) == "allow"
    assert verdict(rules, PAGE) == "allow"
    assert verdict(rules, NOTE) == "ask"
    assert verdict(rules, NOTE, session_id="s-2") == "allow"


def test_a_call_that_was_denied_is_no_part_of_the_history(rules: Path) -> None:
    assert verdict(rules, ("WebFetch", {"url": "https://no.example/", "prompt": ""})) == "deny"
    assert verdict(rules, NOTE) == "allow"


def test_a_history_that_cannot_be_kept_counts_only_where_rules_ask_for_it(rules: Path) -> None:
    state_folder(rules).mkdir(parents=True)
    (state_folder(rules) / "history.sqlite").write_text("no database")
    assert verdict(rules, ("Read", {"file_path": "a.txt"})) == "allow"
    assert verdict(rules, NOTE) == "deny"


def test_a_limit_counts_the_calls_that_went_on(rules: Path) -> None:
    _limit(rules, "few: limit file_write, web_fetch to 2 per day per session")
    assert verdict(rules, ("WebFetch", {"url": "https://no.example/", "prompt": ""})) == "deny"
    assert verdict(rules, PAGE) == "allow"
    assert verdict(rules, NOTE) == "ask"
    assert verdict(rules, PAGE) == "deny"
    assert "there is room again in" in _reason(rules, PAGE)
    assert verdict(rules, PAGE, session_id="s-2") == "allow"


async def test_a_call_that_two_hooks_are_asked_about_is_charged_once(rules: Path) -> None:
    _limit(rules, "few: limit web_fetch to 2 per day")

    def asked(**fields: Any) -> Request:
        text = hook_input(rules, "claude-code", *PAGE, **fields)
        return request(rules, "claude-code", text, workspace=str(rules.parent / "project"))

    first, second, third = (asked(tool_use_id=f"toolu_{number}") for number in (1, 2, 3))
    ended = asked(
        tool_use_id="toolu_2", hook_event_name="PostToolUse", tool_response={"result": "text"}
    )
    decider = Decider(HookContext.of(first))

    async def verdict_on(call: Request) -> str:
        answer = await decider.answer(call)
        said: dict[str, str] = json.loads(answer.stdout)["hookSpecificOutput"]
        return said["permissionDecision"]

    verdicts = await asyncio.gather(*(verdict_on(first) for _ in range(3)))
    assert verdicts == ["allow"] * 3
    assert await verdict_on(second) == "allow"
    assert await verdict_on(second) == "allow"
    assert await verdict_on(third) == "deny"
    # Once it has ended, its id names another call.
    await decider.answer(ended)
    assert await verdict_on(second) == "deny"


def test_what_a_limit_counts_does_not_go_on_where_it_cannot_be_kept(rules: Path) -> None:
    _limit(rules, "few: limit web_fetch to 2 per day")
    state_folder(rules).mkdir(parents=True)
    (state_folder(rules) / "history.sqlite").write_text("no database")
    assert verdict(rules, ("Read", {"file_path": "a.txt"})) == "allow"
    assert verdict(rules, PAGE) == "deny"


def _limit(rules: Path, statement: str) -> None:
    (rules / "global.policy").write_text(f"{POLICY}{statement}\n", "utf-8")


def _reason(rules: Path, call: tuple[str, Any]) -> str:
    text = hook_input(rules, "claude-code", *call)
    answer = decided(request(rules, "claude-code", text, workspace=str(rules.parent / "project")))
    return str(json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecisionReason"])
