"""How the input that an agent writes to its hook is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from policy.daemon.agents import AGENTS
from policy.daemon.agents.agent import mcp_tool, read_hook
from policy.daemon.agents.mapping import Unmapped

CLAUDE = AGENTS["claude-code"]
GEMINI = AGENTS["gemini-cli"]

GIVEN: dict[str, Any] = {
    "session_id": "s",
    "transcript_path": "/t",
    "cwd": "/w",
    "permission_mode": "plan",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "u",
}


def test_a_call_is_read() -> None:
    call = read_hook(CLAUDE, json.dumps(GIVEN), cwd="/x")
    assert (call.tool, call.input, call.cwd) == ("Bash", {"command": "ls"}, "/w")
    assert (call.session, call.mode, call.subagent) == ("s", "plan", None)


def test_a_sub_agent_is_told_apart() -> None:
    given = {**GIVEN, "agent_id": "a-1", "agent_type": "Explore"}
    assert read_hook(CLAUDE, json.dumps(given), cwd="/x").subagent == ("Explore", "a-1")


def test_without_a_folder_the_process_stands_for_it() -> None:
    given = {name: value for name, value in GIVEN.items() if name != "cwd"}
    assert read_hook(CLAUDE, json.dumps(given), cwd="/x").cwd == "/x"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"x"',
        "{}",
        json.dumps({**GIVEN, "hook_event_name": "PostToolUse"}),
        json.dumps({**GIVEN, "tool_name": None}),
        json.dumps({**GIVEN, "tool_input": "ls"}),
        json.dumps({**GIVEN, "cwd": "here"}),
        json.dumps({**GIVEN, "cwd": 1}),
        json.dumps(GIVEN)[:-1] + ', "tool_name": "Read"}',
        '{"a": "\udcff"}',
        "[" * 100_000,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Unmapped):
        read_hook(CLAUDE, text, cwd="/x")


def test_tools_of_servers_have_the_names_that_rules_know() -> None:
    given = {**GIVEN, "tool_name": "mcp__github__create_issue"}
    assert mcp_tool(read_hook(CLAUDE, json.dumps(given), cwd="/")) == "github__create_issue"
    context = {"server_name": "github", "tool_name": "create_issue"}
    given = {
        **GIVEN,
        "hook_event_name": "BeforeTool",
        "tool_name": "mcp_github_create_issue",
        "mcp_context": context,
    }
    assert mcp_tool(read_hook(GEMINI, json.dumps(given), cwd="/")) == "github__create_issue"
    assert mcp_tool(read_hook(CLAUDE, json.dumps(GIVEN), cwd="/")) is None


@pytest.mark.parametrize("name", ["mcp__ext__x", "mcp____x", "mcp__x", "mcp__x__"])
def test_a_server_that_cannot_be_named_is_refused(name: str) -> None:
    with pytest.raises(Unmapped):
        mcp_tool(read_hook(CLAUDE, json.dumps({**GIVEN, "tool_name": name}), cwd="/"))
