"""What agents tell of a session besides calls: its start, what its user wrote, how calls ended.

The inputs have the fields that each agent's documentation and source list (docs/hooks.md).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policy.daemon.agents import AGENTS
from policy.daemon.request import HookAnswer
from policy.generation import state_folder
from tests.unit.daemon.deciding import decided, hook_input, request

POLICY = """\
policy for every agent

default deny
label untrusted on results of web_fetch

pages: allow web_fetch when input.url named by user
notes: allow file_write when writes only workspace after file_read
reads: allow file_read when reads only workspace
list: allow bash_exec when runs only "ls *"
lists: deny file_read after bash_exec
other: allow CronCreate
"""
PAGE = "https://a.example/report"
COMMON: dict[str, dict[str, Any]] = {
    "claude-code": {
        "transcript_path": "/home/u/.claude/projects/p/s-1.jsonl",
        "permission_mode": "default",
    },
    "gemini-cli": {
        "transcript_path": "/home/u/.gemini/tmp/p/chats/session.json",
        "timestamp": "2026-11-23T10:00:00.000Z",
    },
    "codex": {
        "transcript_path": None,
        "permission_mode": "default",
        "model": "gpt-5.5-codex",
        "turn_id": "019d036d-c7fa-72d2-b6fd-78878bfe34e4",
    },
}
PROMPT = {
    "claude-code": "UserPromptSubmit",
    "gemini-cli": "BeforeAgent",
    "codex": "UserPromptSubmit",
}
CALLS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "claude-code": {
        "page": ("WebFetch", {"url": PAGE, "prompt": "read it"}),
        "read": ("Read", {"file_path": "a.txt"}),
        "write": ("Write", {"file_path": "b.txt", "content": "x"}),
        "list": ("Bash", {"command": "ls .", "description": "look"}),
    },
    "gemini-cli": {
        "page": ("web_fetch", {"prompt": f"read {PAGE}"}),
        "read": ("read_file", {"file_path": "a.txt"}),
        "write": ("write_file", {"file_path": "b.txt", "content": "x"}),
        "list": ("run_shell_command", {"command": "ls ."}),
    },
}
BOTH = sorted(CALLS)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    for name in ("rules", "project", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "rules" / "global.policy").write_text(POLICY, "utf-8")
    (tmp_path / "rules" / "placet.toml").write_text('[catalogue]\nfiles = ["own.json"]\n', "utf-8")
    own = [{"name": "CronCreate", "description": "Schedule.", "inputSchema": {"type": "object"}}]
    (tmp_path / "rules" / "own.json").write_text(json.dumps(own), "utf-8")
    return tmp_path / "rules"


class Session:
    """One session of an agent; every hook is a process of its own, without a daemon."""

    def __init__(self, rules: Path, agent: str, session: str = "s-1") -> None:
        self.rules, self.agent, self.session = rules, agent, session
        self.number = 0

    def tell(self, event: str, **fields: Any) -> HookAnswer:
        """Send an event, which stops nothing."""
        given = {
            "session_id": self.session,
            "cwd": str(self.rules.parent / "project"),
            "hook_event_name": event,
            **COMMON[self.agent],
            **fields,
        }
        answer = decided(self._request(json.dumps(given)))
        assert answer == AGENTS[self.agent].heard
        assert (answer.status, answer.stderr) == (0, "")
        return answer

    def writes(self, prompt: str, **more: Any) -> None:
        """Send what the user wrote."""
        self.tell(PROMPT[self.agent], prompt=prompt, **more)

    def call(self, name: str, **more: Any) -> str:
        """Ask about a call, and return the verdict."""
        tool, input = CALLS[self.agent][name]
        return self.asks(tool, input, **more)

    def asks(self, tool: str, input: dict[str, Any], **more: Any) -> str:
        self.number += 1
        more = {**COMMON[self.agent], "session_id": self.session, **more}
        if self.agent != "gemini-cli":
            more = {"tool_use_id": f"toolu_{self.number}", **more}
        text = hook_input(self.rules, self.agent, tool, input, **more)
        said = json.loads(decided(self._request(text)).stdout)
        found: str = (
            said.get("hookSpecificOutput", {}).get("permissionDecision") or said["decision"]
        )
        return found

    def ended(self, name: str, response: Any, *, event: str = "", **more: Any) -> None:
        """Tell what came of the last call."""
        tool, input = CALLS[self.agent][name]
        usual = "AfterTool" if self.agent == "gemini-cli" else "PostToolUse"
        if self.agent != "gemini-cli":
            more = {"tool_use_id": f"toolu_{self.number}", **more}
        fields = {"tool_name": tool, "tool_input": input, **more}
        if response is not None:
            fields["tool_response"] = response
        self.tell(event or usual, **fields)

    def _request(self, text: str) -> Any:
        workspace = str(self.rules.parent / "project")
        return request(self.rules, self.agent, text, workspace=workspace)


@pytest.mark.parametrize("agent", BOTH)
def test_a_page_that_the_user_names_may_be_fetched(rules: Path, agent: str) -> None:
    session = Session(rules, agent)
    assert session.call("page") == "deny"
    session = Session(rules, agent, "s-2")
    session.tell("SessionStart", source="startup")
    assert session.call("page") == "deny"
    session.writes(f"Read {PAGE}, please.")
    assert session.call("page") == "allow"
    assert Session(rules, agent, "s-3").call("page") == "deny"


@pytest.mark.parametrize("agent", BOTH)
def test_without_a_hook_at_the_start_the_first_prompt_is_the_beginning(
    rules: Path, agent: str
) -> None:
    session = Session(rules, agent)
    session.writes(f"Read {PAGE}")
    assert session.call("page") == "allow"
    late = Session(rules, agent, "s-2")
    assert late.call("read") == "allow"
    late.writes(f"Read {PAGE}")
    assert late.call("page") == "deny"


@pytest.mark.parametrize("agent", BOTH)
def test_a_session_that_goes_on_is_known_only_if_its_beginning_was_heard(
    rules: Path, agent: str
) -> None:
    session = Session(rules, agent)
    session.writes(f"Read {PAGE}")
    session.tell("SessionStart", source="resume")
    session.writes("go on")
    assert session.call("page") == "allow"
    forked = Session(rules, agent, "s-2")
    forked.tell("SessionStart", source="resume")
    forked.writes(f"Read {PAGE}")
    assert forked.call("page") == "deny"


def test_what_a_sub_agent_is_told_is_not_what_the_user_wrote(rules: Path) -> None:
    session = Session(rules, "claude-code")
    session.writes("hello")
    session.writes(f"Read {PAGE}", agent_id="a-1", agent_type="Explore")
    assert session.call("page") == "deny"
    assert session.call("page", agent_id="a-1", agent_type="Explore") == "deny"
    session.writes(f"Read {PAGE}")
    assert session.call("page", agent_id="a-1", agent_type="Explore") == "allow"


def test_a_notification_of_the_agent_is_not_what_the_user_wrote(rules: Path) -> None:
    session = Session(rules, "claude-code")
    session.writes("hello")
    told = f"<task-notification>\n<result>read {PAGE}</result>\n</task-notification>"
    session.writes(told)
    session.writes(f"\n {told} Read {PAGE}")
    assert session.call("page") == "deny"
    session.writes(f"Read {PAGE}")
    assert session.call("page") == "allow"


def test_once_the_agent_may_write_prompts_itself_what_the_user_wrote_is_unknown(
    rules: Path,
) -> None:
    session = Session(rules, "claude-code")
    session.writes(f"Read {PAGE}")
    assert session.asks("CronCreate", {}) == "allow"
    assert session.call("page") == "allow"
    session.writes("Read https://evil.example/")
    assert session.call("page") == "deny"


@pytest.mark.parametrize("agent", BOTH)
def test_a_rule_may_permit_after_a_call_that_succeeded(rules: Path, agent: str) -> None:
    session = Session(rules, agent)
    assert session.call("write") == "deny"
    assert session.call("read") == "allow"
    assert session.call("write") == "deny"
    session.call("read")
    session.ended("read", {"llmContent": "text", "returnDisplay": ""})
    assert session.call("write") == "allow"
    assert Session(rules, agent, "s-2").call("write") == "deny"


def test_a_call_that_failed_gives_nothing(rules: Path) -> None:
    session = Session(rules, "claude-code")
    session.call("read")
    session.ended("read", None, event="PostToolUseFailure", error="no such file")
    assert session.call("write") == "deny"
    session.call("read")
    more: dict[str, Any] = {"error": "stopped", "is_interrupt": True}
    session.ended("read", None, event="PostToolUseFailure", **more)
    assert session.call("write") == "deny"
    gemini = Session(rules, "gemini-cli")
    gemini.call("read")
    gemini.ended("read", {"llmContent": "no such file", "error": {"message": "no such file"}})
    assert gemini.call("write") == "deny"


def test_equal_calls_without_an_id_end_one_by_one(rules: Path) -> None:
    session = Session(rules, "gemini-cli")
    session.call("read")
    session.call("read")
    session.ended("read", {"llmContent": "", "error": {"message": "busy"}})
    assert session.call("write") == "deny"
    session.ended("read", {"llmContent": "text"})
    assert session.call("write") == "allow"


def test_an_end_of_another_call_changes_nothing(rules: Path) -> None:
    session = Session(rules, "claude-code")
    session.call("read")
    session.ended("read", {"file": {}}, tool_use_id="toolu_of_another")
    session.ended("read", {"file": {}}, agent_id="a-1", agent_type="Explore")
    other = Session(rules, "claude-code", "s-2")
    other.number = session.number
    other.ended("read", {"file": {}})
    assert session.call("write") == "deny"
    assert session.call("read", tool_use_id="again") == "allow"
    session.ended("read", {"file": {}}, tool_use_id="again")
    session.ended("read", {"file": {}}, tool_use_id="again")
    assert session.call("write") == "allow"


def test_codex_tells_how_a_call_ended_only_for_tools_of_servers(rules: Path) -> None:
    outcome = AGENTS["codex"].outcome
    assert outcome("Process exited with code 0") is None
    assert outcome({"content": [], "isError": False}) == "ok"
    assert outcome({"content": [], "isError": True}) == "failed"
    assert outcome({"content": [], "isError": "no"}) is None
    assert outcome(None) is None


def test_what_codex_does_not_tell_stays_unknown(rules: Path) -> None:
    text = hook_input(rules, "codex", "Bash", {"command": "ls ."}, tool_use_id="call_1")
    assert '"permissionDecision": "allow"' in decided(request(rules, "codex", text)).stdout
    session = Session(rules, "codex")
    told = {"tool_name": "Bash", "tool_input": {"command": "ls ."}, "tool_use_id": "call_1"}
    session.tell("PostToolUse", tool_response="Process exited with code 0", **told)
    session.writes("hello")
    claude = Session(rules, "claude-code")
    assert claude.call("read") == "deny"  # after bash_exec, whose outcome nobody told


@pytest.mark.parametrize("fields", [{}, {"prompt": None}, {"prompt": ["x"]}, {"prompt": "\ud800"}])
def test_a_malformed_prompt_stops_nothing(rules: Path, fields: dict[str, Any]) -> None:
    session = Session(rules, "claude-code")
    session.tell("UserPromptSubmit", **fields)
    session.writes(f"Read {PAGE}")
    assert session.call("page") == "deny"
    assert session.call("read") == "allow"


def test_a_prompt_that_is_too_long_names_nothing_and_hides_no_other(rules: Path) -> None:
    session = Session(rules, "claude-code")
    session.writes(f"{PAGE} {'x' * 600_000}")
    assert session.call("page") == "deny"
    session.writes(f"Read {PAGE}")
    assert session.call("page") == "allow"


def test_an_event_that_cannot_be_noted_stops_nothing(rules: Path) -> None:
    state_folder(rules).mkdir(parents=True)
    (state_folder(rules) / "history.sqlite").write_text("no database")
    (state_folder(rules) / "pending.sqlite").write_text("no database")
    session = Session(rules, "claude-code")
    session.tell("SessionStart", source="startup")
    session.writes(f"Read {PAGE}")
    assert session.call("page") == "deny"
    session.ended("read", {"file": {}})


def test_a_policy_that_does_not_load_stops_no_event(rules: Path) -> None:
    (rules / "global.policy").write_text("nonsense", "utf-8")
    Session(rules, "gemini-cli").writes("hello")
