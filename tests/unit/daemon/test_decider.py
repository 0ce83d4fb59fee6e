"""One hook call decided in this process: its verdict, the agent's answer, and the record."""

from __future__ import annotations

import json
import os
import shlex
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import policy
from tests.unit.daemon.deciding import decided, hook_input, request

POLICY = """\
policy for every agent

default deny

commands look = "ls *", "cat *"

read: allow file_read when reads only workspace
change: allow file_write when writes only workspace
remove: allow file_delete when writes only workspace with approval because "gone is gone"
look: allow bash_exec when runs only look
push: allow bash_exec when runs only "git push *" with approval
pay: allow bash_exec when runs only "date" with approval by "finance"
short: rewrite bash_exec set input.timeout = at most 60
"""
NOTHING = "policy for every agent\n\ndefault deny\n"
CLAUDE, GEMINI, CODEX = "claude-code", "gemini-cli", "codex"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    for name in ("rules", "project", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "rules" / "global.policy").write_text(POLICY, "utf-8")
    return tmp_path / "rules"


def ask(rules: Path, agent: str, tool: str, input: object, **more: Any) -> dict[str, Any]:
    """Return what the agent is told, `{}` where that is nothing."""
    asked = {name: more.pop(name) for name in ("audit", "denies_asks", "caller") if name in more}
    text = hook_input(rules, agent, tool, input, **more)
    answer = decided(request(rules, agent, text, **asked))
    assert (answer.status, answer.stderr) == (0, "")
    found: dict[str, Any] = json.loads(answer.stdout or "{}")
    return found.get("hookSpecificOutput", found) if agent != GEMINI else found


def patch(*lines: str) -> dict[str, str]:
    return {"command": "\n".join(("*** Begin Patch", *lines, "*** End Patch", ""))}


def test_every_part_of_a_call_must_be_allowed(rules: Path) -> None:
    allowed = ask(rules, CODEX, "apply_patch", patch("*** Add File: a", "+x"))
    assert allowed == {}
    asked = ask(rules, CODEX, "apply_patch", patch("*** Add File: a", "+x", "*** Delete File: b"))
    assert asked["permissionDecision"] == "deny"
    assert "gone is gone" in asked["permissionDecisionReason"]
    outside = ask(rules, CODEX, "apply_patch", patch("*** Add File: a", "*** Add File: /etc/b"))
    assert outside["permissionDecisionReason"] == (
        "placet: no rule allows this: the nearest, `change`, does not cover writing /etc/b"
    )


def test_a_resource_of_an_mcp_server_is_what_its_uri_names(rules: Path) -> None:
    """As behind a gateway: a file that is read, a host, or what only the server knows."""
    more = 'notes: allow mcp_read_resource when input.uri starts with "note://"\n'
    files = 'files: allow mcp_read_resource when reads only "/srv/docs/**"\n'
    (rules / "global.policy").write_text(NOTHING + more + files, "utf-8")
    for uri, verdict in (
        ("note://1", "allow"),
        ("file:///srv/docs/a.md", "allow"),
        ("file:///srv/docs/../../etc/passwd", "deny"),
        ("https://a.example/", "deny"),
    ):
        found = ask(rules, CLAUDE, "ReadMcpResourceTool", {"server": "notes", "uri": uri})
        assert found["permissionDecision"] == verdict, uri


def test_a_rewrite_without_a_field_to_go_back_to_is_denied(rules: Path) -> None:
    there = ask(rules, CLAUDE, "Bash", {"command": "ls x"})
    assert there["updatedInput"] == {"command": "ls x", "timeout": 60_000}
    nowhere = ask(rules, GEMINI, "run_shell_command", {"command": "ls x"})
    assert nowhere["decision"] == "deny"
    assert "`timeout`" in nowhere["reason"]
    given = ask(rules, CLAUDE, "Bash", {"command": "ls x", "timeout": 5_000})
    assert "updatedInput" not in given


def test_a_rewrite_of_one_of_several_calls_is_denied(rules: Path) -> None:
    (rules / "more.policy").write_text(
        'policy for agent "codex"\n\nredo: rewrite file_write set input.content = "x"\n', "utf-8"
    )
    told = ask(rules, CODEX, "apply_patch", patch("*** Update File: a", "@@", "+y"))
    assert told["permissionDecision"] == "deny"
    assert "changes this call" in told["permissionDecisionReason"]


def test_a_question_says_what_asks(rules: Path) -> None:
    told = ask(rules, CLAUDE, "Bash", {"command": "git push x"})
    assert told["permissionDecision"] == "ask"
    assert "push" in told["permissionDecisionReason"]


@pytest.mark.parametrize(
    ("command", "more", "why"),
    [
        ("date", {}, "finance"),
        ("git push x", {"denies_asks": True}, "nobody to give it"),
        ("git push x", {"permission_mode": "bypassPermissions"}, "bypasses permissions"),
    ],
)
def test_a_question_that_cannot_be_put_is_a_denial(
    rules: Path, command: str, more: dict[str, Any], why: str
) -> None:
    told = ask(rules, CLAUDE, "Bash", {"command": command}, **more)
    assert told["permissionDecision"] == "deny"
    assert why in told["permissionDecisionReason"]


def test_a_call_whose_result_a_rule_redacts_is_denied(rules: Path) -> None:
    text = (
        "policy for every agent\n\ndefault allow\n"
        "keys: redact results of file_read matching /key/\n"
        "soon: shadow redact results of bash_exec matching /key/\n"
    )
    (rules / "global.policy").write_text(text, "utf-8")
    told = ask(rules, CLAUDE, "Read", {"file_path": str(rules.parent / "project" / "a")})
    assert told["permissionDecision"] == "deny"
    assert "a hook does not change results: `keys`" in told["permissionDecisionReason"]
    assert ask(rules, CLAUDE, "Bash", {"command": "ls"})["permissionDecision"] == "allow"


def test_the_record_says_what_was_answered(rules: Path, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    ask(rules, CLAUDE, "Bash", {"command": "cat <<E\nx\nE"}, audit=str(audit), caller="ada's")
    ask(rules, CODEX, "apply_patch", patch("*** Update File: a", "+y"), audit=str(audit))
    first, read, written = (json.loads(line) for line in audit.read_text("utf-8").splitlines())
    assert (first["event"], first["outcome"], first["verdict"]) == ("end", "answered", "allow")
    assert (first["asked_tool"], first["tool"]) == ("Bash", "bash_exec")
    assert first["ran"] == "cat <<< 'x'"
    assert first["final_input"]["timeout"] == 60
    assert (first["caller"]["agent"], first["caller"]["session"]) == ("ada's", "s-1")
    assert [each["tool"] for each in (read, written)] == ["file_read", "file_write"]
    assert {each["asked_tool"] for each in (read, written)} == {"apply_patch"}


def test_what_is_not_a_call_is_on_record_too(rules: Path, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    answer = decided(request(rules, CLAUDE, "{", audit=str(audit)))
    assert json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    (record,) = (json.loads(line) for line in audit.read_text("utf-8").splitlines())
    assert (record["verdict"], record["outcome"], record["tool"]) == ("deny", "not-found", None)
    assert "not JSON" in record["message"]


@pytest.mark.parametrize("bad", ["folder", "missing/audit.jsonl"])
def test_what_cannot_be_recorded_does_not_pass(rules: Path, tmp_path: Path, bad: str) -> None:
    (tmp_path / "folder").mkdir()
    told = ask(rules, CLAUDE, "Bash", {"command": "ls x"}, audit=str(tmp_path / bad))
    assert told["permissionDecision"] == "deny"
    assert "recorded" in told["permissionDecisionReason"]


def test_who_calls_is_configured_or_named(rules: Path, tmp_path: Path) -> None:
    (rules / "placet.toml").write_text('[serve]\nagent = "coder"\nuser = "ada"\n', "utf-8")
    audit = tmp_path / "audit.jsonl"
    ask(rules, CLAUDE, "Bash", {"command": "ls"}, audit=str(audit))
    ask(rules, CLAUDE, "Bash", {"command": "ls"}, audit=str(audit), caller="other")
    callers = [json.loads(line)["caller"] for line in audit.read_text("utf-8").splitlines()]
    assert [each["agent"] for each in callers] == ["coder", "other"]
    assert {each["user"] for each in callers} == {"ada"}


@pytest.mark.parametrize("place", ["project/.claude/settings.json", "home/.codex/config.toml"])
def test_settings_of_agents_are_out_of_reach(rules: Path, tmp_path: Path, place: str) -> None:
    (rules / "global.policy").write_text(f"{NOTHING}allow file_write\n", "utf-8")
    input = {"file_path": str(tmp_path / place), "content": "{}"}
    assert ask(rules, CLAUDE, "Write", input)["permissionDecision"] == "deny"
    other = {"file_path": str(tmp_path / "project" / "a"), "content": "{}"}
    assert ask(rules, CLAUDE, "Write", other)["permissionDecision"] == "allow"


@pytest.mark.parametrize(
    "place",
    [
        os.path.join(os.path.dirname(sys.executable), "placet"),
        sys.executable,
        policy.__file__,
        os.path.join(os.path.dirname(policy.__file__), "cli", "new.py"),
        os.path.join(sysconfig.get_path("purelib"), "_editable_impl_placet.pth"),
        os.path.join(sysconfig.get_path("purelib"), "sitecustomize.py"),
        json.__file__,
    ],
)
def test_the_program_that_decides_is_out_of_reach(rules: Path, place: str) -> None:
    (rules / "global.policy").write_text(f"{NOTHING}allow file_write, bash_exec\n", "utf-8")
    written = ask(rules, CLAUDE, "Write", {"file_path": place, "content": ""})
    assert written["permissionDecision"] == "deny"
    removed = ask(rules, CLAUDE, "Bash", {"command": f"rm {shlex.quote(place)}"})
    assert removed["permissionDecision"] == "deny"


@pytest.mark.parametrize("given", [True, "true", 1])
def test_a_command_outside_of_the_agents_sandbox_is_denied(rules: Path, given: object) -> None:
    (rules / "global.policy").write_text(f"{NOTHING}allow bash_exec\n", "utf-8")
    input = {"command": "git status", "dangerouslyDisableSandbox": given}
    told = ask(rules, CLAUDE, "Bash", input)
    assert told["permissionDecision"] == "deny"
    assert "outside of the sandbox" in told["permissionDecisionReason"]
    inside = {**input, "dangerouslyDisableSandbox": False}
    assert ask(rules, CLAUDE, "Bash", inside)["permissionDecision"] == "allow"


def test_settings_in_a_folder_of_the_users_choice_are_out_of_reach(
    rules: Path, tmp_path: Path
) -> None:
    (rules / "global.policy").write_text(f"{NOTHING}allow file_write\n", "utf-8")
    chosen = tmp_path / "chosen"
    input = {"file_path": str(chosen / "settings.json"), "content": "{}"}
    text = hook_input(rules, CLAUDE, "Write", input)
    answer = decided(request(rules, CLAUDE, text, settings_folder=str(chosen)))
    assert json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_without_a_policy_everything_is_denied(rules: Path) -> None:
    (rules / "global.policy").write_text("allow\n", "utf-8")
    told = ask(rules, GEMINI, "read_file", {"file_path": "a"})
    assert told["decision"] == "deny"
    assert "placet check" in told["reason"]


def test_an_agent_that_nobody_knows_is_blocked(rules: Path) -> None:
    assert decided(request(rules, "emacs", "{}")).status == 2


def test_a_sub_agent_may_do_what_all_above_it_may(rules: Path, tmp_path: Path) -> None:
    (rules / "explore.policy").write_text(
        'policy for agent "Explore"\n\nno-lists: deny bash_exec when runs "ls *"\n', "utf-8"
    )
    audit, below = tmp_path / "audit.jsonl", {"agent_id": "a-1", "agent_type": "Explore"}
    told = ask(rules, CLAUDE, "Bash", {"command": "ls x"})
    assert told["permissionDecision"] == "allow"
    told = ask(rules, CLAUDE, "Bash", {"command": "ls x"}, audit=str(audit), **below)
    assert told["permissionDecision"] == "deny"
    caller = json.loads(audit.read_text("utf-8"))["caller"]
    assert (caller["agent"], caller["session"]) == ("Explore", "a-1")
    assert caller["parents"] == [{"agent": CLAUDE, "session": "s-1"}]


@pytest.mark.parametrize(
    ("tool", "input", "told"),
    [
        ("mcp__github__create_issue", {"title": "x", "count": 3}, "allow"),
        ("mcp__github__create_issue", {"title": "x", "count": 4}, "deny"),
        ("mcp__github__delete_repo", {}, "deny"),
        # Each of these would have to be mended to be the call that the rule is about.
        ("mcp__GitHub__create_issue", {"title": "x", "count": 3}, "deny"),
        ("mcp__github__createIssue", {"title": "x", "count": 3}, "deny"),
        ("mcp__github__create_issue", {"title": "x", "count": "3"}, "deny"),
        ("mcp__github__create_issue", {"Title": "x", "count": 3}, "deny"),
    ],
)
def test_a_tool_of_a_server_is_judged_as_it_will_run(
    rules: Path, tool: str, input: dict[str, Any], told: str
) -> None:
    fields = {"title": {"type": "string"}, "count": {"type": "integer"}}
    schema = {"type": "object", "properties": fields}
    listed = {"tools": [{"name": "create_issue", "inputSchema": schema}]}
    (rules / "github.json").write_text(json.dumps(listed), "utf-8")
    (rules / "placet.toml").write_text('[catalogue.servers]\ngithub = "github.json"\n', "utf-8")
    (rules / "global.policy").write_text(
        f"{POLICY}issues: allow mcp github/create_issue when input.count <= 3\n", "utf-8"
    )
    assert ask(rules, CLAUDE, tool, input)["permissionDecision"] == told


def test_a_rewritten_call_of_a_servers_tool_goes_back_whole(rules: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "n": {"type": "integer"}},
    }
    listed = {"tools": [{"name": "create_issue", "inputSchema": schema}]}
    (rules / "github.json").write_text(json.dumps(listed), "utf-8")
    (rules / "placet.toml").write_text('[catalogue.servers]\ngithub = "github.json"\n', "utf-8")
    (rules / "global.policy").write_text(
        f"{NOTHING}issues: allow mcp github/create_issue\n"
        "few: rewrite mcp github/create_issue set input.n = at most 3\n",
        "utf-8",
    )
    told = ask(rules, CLAUDE, "mcp__github__create_issue", {"title": "x", "n": 9})
    assert told["updatedInput"] == {"title": "x", "n": 3}
    context = {"server_name": "github", "tool_name": "create_issue"}
    input = {"title": "x", "n": 9}
    gemini = ask(rules, GEMINI, "mcp_github_create_issue", input, mcp_context=context)
    assert gemini["hookSpecificOutput"]["tool_input"] == {"n": 3}


def test_tools_that_the_policy_lists_are_allowed_by_their_very_names(rules: Path) -> None:
    listed = {"tools": [{"name": "TodoWrite", "inputSchema": {"additionalProperties": True}}]}
    (rules / "tools.json").write_text(json.dumps(listed), "utf-8")
    (rules / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n', "utf-8")
    assert ask(rules, CLAUDE, "TodoWrite", {"todos": []})["permissionDecision"] == "deny"
    (rules / "global.policy").write_text(f"{POLICY}lists: allow TodoWrite\n", "utf-8")
    assert ask(rules, CLAUDE, "TodoWrite", {"todos": [{}]})["permissionDecision"] == "allow"
    for other in ("todo_write", "bash_exec", "file_read", "Todowrite"):
        assert ask(rules, CLAUDE, other, {"path": "a"})["permissionDecision"] == "deny"


def test_a_policy_that_is_not_there_denies(rules: Path) -> None:
    (rules / "global.policy").unlink()
    rules.rmdir()
    assert ask(rules, CLAUDE, "Read", {"file_path": "a"})["permissionDecision"] == "deny"
