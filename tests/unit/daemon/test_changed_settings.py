"""Settings that change while a call runs are told to the agent's user, and recorded."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from policy.daemon.changed_settings import SettingsWatch
from policy.daemon.context import HookContext
from policy.daemon.decider import Decider
from policy.daemon.request import HookAnswer
from policy.model import Caller
from tests.unit.daemon.deciding import hook_input, request

_ENDS = {"claude-code": "PostToolUse", "codex": "PostToolUse", "gemini-cli": "AfterTool"}
_SETTINGS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
}


class _Session:
    """One session of an agent, with a project and a policy that allows everything."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.rules, self.project = folder / "rules", folder / "project"
        self.rules.mkdir()
        self.project.mkdir()
        (self.rules / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
        self.audit = folder / "audit.jsonl"
        self.agent = agent
        self._decider: Decider | None = None

    def _tells(self, command: str, **more: Any) -> HookAnswer:
        tool = "run_shell_command" if self.agent == "gemini-cli" else "Bash"
        text = hook_input(self.rules, self.agent, tool, {"command": command}, **more)
        asked = request(self.rules, self.agent, text, audit=str(self.audit))
        self._decider = self._decider or Decider(HookContext.of(asked))
        return asyncio.run(self._decider.answer(asked))

    def begins(self, command: str, **more: Any) -> HookAnswer:
        return self._tells(command, **more)

    def ends(self, command: str, **more: Any) -> HookAnswer:
        event = {"hook_event_name": _ENDS[self.agent], "tool_response": "x", **more}
        return self._tells(command, **event)

    def made(self) -> list[list[str]]:
        lines = map(json.loads, self.audit.read_text().splitlines())
        return [line["made"] for line in lines if "made" in line]


@pytest.fixture(params=_ENDS)
def session(request: pytest.FixtureRequest, tmp_path: Path) -> _Session:
    return _Session(tmp_path, request.param)


def test_a_settings_file_that_a_build_makes_is_told_and_recorded(session: _Session) -> None:
    heard = session.begins("true")
    assert session.ends("true").stdout in ("", "{}\n"), heard
    session.begins("make")
    file = session.project / _SETTINGS[session.agent]
    file.parent.mkdir()
    file.write_text("{}")
    told = json.loads(session.ends("make").stdout)
    assert list(told) == ["systemMessage"]
    assert str(file) in told["systemMessage"]
    assert session.made() == [[str(file)]]
    ids = [json.loads(line)["id"] for line in session.audit.read_text().splitlines()]
    assert ids[-1] == ids[-2], "it is the record of the call once more"


@pytest.mark.parametrize("change", ["other words", None])
def test_one_that_is_changed_or_removed_is_told(tmp_path: Path, change: str | None) -> None:
    session = _Session(tmp_path, "claude-code")
    file = session.project / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("some words!")
    session.begins("make", tool_use_id="1")
    if change is None:
        file.unlink()
    else:
        file.write_text(change)
    assert "systemMessage" in session.ends("make", tool_use_id="1").stdout
    session.begins("make", tool_use_id="2")
    assert session.ends("make", tool_use_id="2").stdout == ""


def test_what_people_change_between_calls_is_not_told(tmp_path: Path) -> None:
    session = _Session(tmp_path, "claude-code")
    session.begins("make", tool_use_id="1")
    session.ends("make", tool_use_id="1")
    file = session.project / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{}")
    session.begins("make", tool_use_id="2")
    assert session.ends("make", tool_use_id="2").stdout == ""


def test_a_pipe_in_place_of_settings_is_not_waited_for(tmp_path: Path) -> None:
    import os

    session = _Session(tmp_path, "claude-code")
    file = session.project / ".claude" / "settings.json"
    file.parent.mkdir()
    session.begins("make", tool_use_id="1")
    os.mkfifo(file)
    assert "systemMessage" in session.ends("make", tool_use_id="1").stdout


def test_a_call_with_two_names_ends_once(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    watch, caller = SettingsWatch([str(file)]), Caller()
    watch.begin(caller, ("its id", "its command"), ())
    assert watch.end(caller, "its id") is None
    file.write_text("{}")  # by a person, after the call
    assert watch.end(caller, "its command") is None
