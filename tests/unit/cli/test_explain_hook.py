"""`placet explain --hook`: explains what a hook would answer, with its floor and its mapping."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.running import rules_in, run


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rules beside the project that the call is made in."""
    (tmp_path / "project").mkdir()
    found = rules_in(tmp_path).resolve()
    (found / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    return found


def test_the_floor_of_the_hook_counts(rules: Path, tmp_path: Path) -> None:
    ran = run("explain", rules, "--hook", "claude-code", "--command", "touch .claude/settings.json")
    settings = f"{tmp_path}/project/.claude/settings.json"
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:2] == [
        f"claude-code calls Bash in {tmp_path}/project",
        f"its hook answers deny: no tool may change the agent's settings: {settings}",
    ]
    assert "deny by floor" in ran.out
    plain = run("explain", rules, "--command", "touch .claude/settings.json")
    assert plain.out.startswith("allow")


def test_a_tool_of_the_agent_is_mapped(rules: Path) -> None:
    given = json.dumps({"file_path": "/srv/a", "old_string": "x", "new_string": "y"})
    ran = run("explain", rules, "--hook", "claude-code", "--tool", "Edit", "--input", given)
    assert "its hook answers allow" in ran.out
    assert 'allow  file_read {"path": "/srv/a"' in ran.out
    assert 'allow  file_write {"path": "/srv/a"' in ran.out


def test_the_very_input_of_a_hook_is_explained(rules: Path, tmp_path: Path) -> None:
    given = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": str(tmp_path / "other"),
        "tool_name": "Bash",
        "tool_input": {"command": "tar xf a.tar"},
    }
    ran = run("explain", rules, "--hook", "codex", stdin=json.dumps(given, indent=2))
    assert ran.out.splitlines()[0] == f"codex calls Bash in {tmp_path}/other"
    assert "its hook answers deny: it needs a person's answer" in ran.out
    assert "ask by floor" in ran.out


@pytest.mark.parametrize("given", ["{}", "no JSON", '{"hook_event_name": "Stop"}'])
def test_what_is_no_hook_input_is_denied_as_the_hook_does(rules: Path, given: str) -> None:
    ran = run("explain", rules, "--hook", "gemini-cli", stdin=given)
    assert (ran.code, ran.err) == (0, "")
    assert "its hook answers deny: " in ran.out


def test_the_answer_as_json(rules: Path) -> None:
    ran = run(
        "explain", rules, "--hook", "gemini-cli", "--command", "unzip a.zip", "--format", "json"
    )
    told = json.loads(ran.out)
    assert (told["agent"], told["tool"], told["verdict"]) == (
        "gemini-cli", "run_shell_command", "ask",
    )  # fmt: skip
    (call,) = told["calls"]
    assert call["reasons"][0]["rule"] == "floor"
    assert call["reasons"][0]["clause"].startswith("writes /")


@pytest.mark.parametrize(
    "options",
    [("--agent", "x"), ("--role", "guest"), ("--lexical",), ("--call", "x", "--tool", "y")],
)
def test_what_the_hook_decides_is_not_given(rules: Path, options: tuple[str, ...]) -> None:
    (Path.cwd() / "x").write_text("{}")
    more = () if "--call" in options else ("--command", "ls")
    ran = run("explain", rules, "--hook", "codex", *more, *options)
    assert ran.code == 2


def test_a_policy_with_errors_is_reported(rules: Path) -> None:
    (rules / "global.policy").write_text("policy for every agent\n\nallow nothing_known\n")
    ran = run("explain", rules, "--hook", "codex", "--command", "ls")
    assert ran.code == 1
    assert "error" in ran.err
