"""The hook in an agent's settings: installed once, removed completely, all else unchanged."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.cli.agent_settings.entry import (
    hook_command,
    is_ours,
    with_hook,
    with_hooks,
    without_hook,
    without_hooks,
)
from policy.cli.agent_settings.json_text import NotJson, read
from policy.cli.agent_settings.own_tools import notes_on_policy
from policy.daemon import agent_events
from tests.unit.cli.running import run

EVENT, AGENT = "PreToolUse", "claude-code"
COMMAND = "/opt/placet hook claude-code --policy /srv/rules || sh -c 'exit 2'"

LOGGER = "/opt/placet-extra/log hook claude-code"
SETTINGS = [
    "{}",
    "{}\n",
    '{\n  "model": "x"\n}\n',
    '{\n    "hooks": {},\n    "model": "x"\n}\n',
    '{\n\t"hooks": {\n\t\t"PreToolUse": []\n\t}\n}\n',
    """{
  // what I like
  "model": "x", /* and
  why */
  "hooks": {
    "PostToolUse": [{"hooks": [{"type": "command", "command": "fmt"}]}], // after
    "PreToolUse": [
      // first
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "audit"}]}, // mine
    ],
  },
}
""",
]


def test_a_policy_by_which_the_agent_cannot_work_is_told_of(tmp_path: Path) -> None:
    policy = tmp_path / "global.policy"
    policy.write_text("policy for every agent\n\ndefault deny\n", "utf-8")
    (unknown,) = notes_on_policy(str(policy), AGENT)
    assert "knows none of the agent's own tools" in unknown
    assert list(notes_on_policy(str(policy), "codex")) == []  # it has none
    policy.write_text("nonsense\n", "utf-8")
    (broken,) = notes_on_policy(str(policy), AGENT)
    assert "has errors, so every call is denied" in broken
    init = run("init", tmp_path / "rules")
    assert init.code == 0
    assert list(notes_on_policy(str(tmp_path / "rules"), AGENT)) == []


@pytest.mark.parametrize("text", SETTINGS)
def test_the_hook_is_put_in_once_and_taken_out_again(text: str) -> None:
    installed = with_hook(text, EVENT, AGENT, COMMAND)
    hooks = read(installed).value["hooks"][EVENT]
    assert [each["command"] for group in hooks for each in group["hooks"]].count(COMMAND) == 1
    assert with_hook(installed, EVENT, AGENT, COMMAND) == installed
    assert _without_empty(read(without_hook(installed, EVENT, AGENT)).value) == _without_empty(
        read(text).value
    )
    assert comments(installed) == comments(text) == comments(without_hook(installed, EVENT, AGENT))


def _commands(agent: str) -> dict[str, str]:
    return dict.fromkeys(("First", *agent_events(agent)), f"/opt/placet hook {agent} || exit 0")


@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "codex"])
@pytest.mark.parametrize("text", SETTINGS)
def test_all_events_are_put_in_once_and_taken_out_again(text: str, agent: str) -> None:
    commands = _commands(agent)
    installed = with_hooks(text, commands, agent)
    assert with_hooks(installed, commands, agent) == installed
    assert comments(installed) == comments(text)
    for event, command in commands.items():
        groups = read(installed).value["hooks"][event]
        assert [hook["command"] for group in groups for hook in group["hooks"]].count(command) == 1
    left = without_hooks(installed, commands, agent)
    assert _without_empty(read(left).value) == _without_empty(read(text).value)


@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "codex"])
def test_an_installation_of_one_event_gets_the_others(agent: str) -> None:
    commands = _commands(agent)
    older = with_hook('{"model": "x"}\n', "First", agent, commands["First"])
    newer = with_hooks(older, commands, agent)
    assert list(read(newer).value["hooks"]) == list(commands)
    assert without_hooks(newer, commands, agent) == '{"model": "x"}\n'


def test_only_what_asks_blocks_and_only_tools_are_matched() -> None:
    hooks = read(with_hooks("{}", _commands(AGENT), AGENT)).value["hooks"]
    assert "onFailure" not in hooks["PostToolUse"][0]["hooks"][0]
    assert hooks["PostToolUse"][0]["matcher"] == "*"
    assert "matcher" not in hooks["UserPromptSubmit"][0]
    assert "matcher" not in hooks["SessionStart"][0]


def test_in_an_ordinary_file_nothing_is_left_behind() -> None:
    text = SETTINGS[-1].replace("}, // mine", "} // mine")
    assert without_hook(with_hook(text, EVENT, AGENT, COMMAND), EVENT, AGENT) == text


def test_another_command_takes_the_place_of_the_older_one() -> None:
    older = with_hook(SETTINGS[-1], EVENT, AGENT, COMMAND)
    newer = with_hook(older, EVENT, AGENT, COMMAND.replace("/srv/rules", "/srv/other"))
    assert "/srv/rules" not in newer
    assert newer.count("/srv/other") == 1
    assert comments(newer) == comments(older)


def test_hooks_of_others_stay() -> None:
    gemini = COMMAND.replace(AGENT, "gemini-cli")
    text = with_hook(SETTINGS[-1], EVENT, "gemini-cli", gemini)
    both = with_hook(text, EVENT, AGENT, COMMAND)
    assert without_hook(both, EVENT, AGENT) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "1", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', '{"a": 1,, }'),
        *('{"hooks": {}, "hooks": {}}', "{'a': 1}", '{"a" 1}', "{} x", "[" * 5000),
    ],
)
def test_settings_that_are_misshapen_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        with_hook(text, EVENT, AGENT, COMMAND)


@pytest.mark.parametrize(
    ("agent", "seconds"), [("claude-code", 30), ("codex", 30), ("gemini-cli", 30_000)]
)
def test_every_agent_waits_longer_than_a_hook_takes(agent: str, seconds: int) -> None:
    text = with_hook("{}", EVENT, agent, COMMAND.replace(AGENT, agent))
    ((hook,),) = [group["hooks"] for group in read(text).value["hooks"][EVENT]]
    assert hook["timeout"] == seconds
    assert json.loads(text)  # no agent needs to take comments


def test_the_command_blocks_where_the_hook_cannot_start(tmp_path: Path) -> None:
    command = _command().replace(sys.executable, str(tmp_path / "python"))
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "the hook gave no answer" in done.stderr


@pytest.mark.parametrize(
    ("ending", "status", "told"),
    [
        ("print(5)", 0, ""),
        ("raise SystemExit(1)", 2, "placet: the hook gave no answer\n"),
        ("os.kill(os.getpid(), 9)", 2, "placet: the hook gave no answer\n"),
        ("os.write(2, b'a reason'), os._exit(2)", 2, "a reason"),
    ],
)
def test_the_command_gives_a_reason_only_where_the_hook_gave_none(
    tmp_path: Path, ending: str, status: int, told: str
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\nimport os\n{ending}\n")
    program.chmod(0o755)
    command = _command().replace(sys.executable, str(program))
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (status, "" if status else "5\n")
    # A shell may say that what it ran was killed.
    assert done.stderr.endswith(told) if told else not done.stderr


def test_the_command_starts_python_in_isolation() -> None:
    assert f"{sys.executable} -I -m policy hook" in _command()


def test_only_our_command_for_this_agent_is_ours() -> None:
    given = Namespace(agent=AGENT, policy="a b", workspace="/w", audit="/a", caller="x")
    given.deny_asks = given.no_daemon = True
    command = hook_command(given)
    assert is_ours(command, AGENT)
    assert not is_ours(command, "codex")
    assert is_ours("/usr/bin/python3 -P -m policy hook codex --policy x", "codex")
    for other in (
        "echo hook claude-code",
        "hook claude-code",
        "lefthook run",
        "'",
        None,
        3,
        LOGGER,
    ):
        assert not is_ours(other, AGENT)
    assert str(Path("a b").absolute()) in shlex.split(command)


EXTRA = [
    "{ // my comment\n}",
    '{"hooks": {}, "a": 1}',
    '{"hooks":{"PreToolUse":[],"Stop":[]}}',
    '{\n  "hooks": {\n  }\n}',
    '{"hooks": {"PreToolUse": [ // off for now, really\n ]}}',
    '{\r\n  "a": 1 // one, two\r\n}\r\n',
    '{"a": [1,], /* b, c */ }',
]


@pytest.mark.parametrize("text", [*SETTINGS, *EXTRA])
def test_uninstalling_restores_every_byte(text: str) -> None:
    installed = with_hook(text, EVENT, AGENT, COMMAND)
    assert comments(installed) == comments(text)
    assert ("\r\n" in text) == ("\r\n" in installed)
    assert without_hook(installed, EVENT, AGENT) == text


blanks = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " // a, b\n", "/* c, */", "\n// d \n "])


@st.composite
def drawn_settings(draw: st.DrawFn) -> str:
    def inside(parts: list[str], opening: str, closing: str) -> str:
        spaced = [draw(blanks) + part + draw(blanks) for part in parts]
        last = draw(st.sampled_from(["", ","])) + draw(blanks) if parts else draw(blanks)
        return opening + ",".join(spaced) + last + closing

    mine = '{"hooks": [{"command": "mine"}]}'
    groups = inside([mine] * draw(st.integers(0, 2)), "[", "]")
    events = draw(
        st.sampled_from([[], [f'"{EVENT}":{groups}'], ['"Stop":[]', f'"{EVENT}":{groups}']])
    )
    hooks = f'"hooks":{inside(events, "{", "}")}'
    whole = draw(st.sampled_from([[], [hooks], ['"a":1', hooks], [hooks, '"a":{}'], ['"a":1']]))
    return draw(blanks) + inside(whole, "{", "}") + draw(blanks)


@given(drawn_settings())
def test_installing_and_uninstalling_gives_the_same_bytes(text: str) -> None:
    installed = with_hook(text, EVENT, AGENT, COMMAND)
    assert with_hook(installed, EVENT, AGENT, COMMAND) == installed
    assert without_hook(installed, EVENT, AGENT) == text
    commands = {EVENT: COMMAND, **_commands(AGENT)}
    whole = with_hooks(text, commands, AGENT)
    assert with_hooks(whole, commands, AGENT) == whole
    assert without_hooks(whole, commands, AGENT) == text


def test_a_hook_of_the_user_in_our_group_stays() -> None:
    settings = json.loads(with_hook("{}", EVENT, AGENT, COMMAND))
    own = {"type": "command", "command": "my-own-audit.sh"}
    settings["hooks"][EVENT][0]["hooks"].append(own)
    text = json.dumps(settings, indent=2)
    newer = with_hook(text, EVENT, AGENT, COMMAND.replace("/srv/rules", "/srv/other"))
    assert json.loads(newer)["hooks"][EVENT][0]["hooks"][1] == own
    assert newer.count("/srv/other") == 1
    left = json.loads(without_hook(newer, EVENT, AGENT))
    assert left["hooks"][EVENT] == [{"matcher": "*", "hooks": [own]}]


def test_a_comment_above_the_hook_that_follows_stays() -> None:
    ours = json.dumps({"matcher": "*", "hooks": [{"command": COMMAND}]})
    text = f'{{"hooks": {{"{EVENT}": [\n{ours},\n// my own hook, keep\n{{"hooks": []}}\n]}}}}'
    assert comments(without_hook(text, EVENT, AGENT)) == ["// my own hook, keep"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), values, max_size=4), st.sampled_from([None, 2, 4]))
def test_any_settings_are_as_before_afterwards(
    settings: dict[str, Any], indent: int | None
) -> None:
    settings.pop("hooks", None)
    text = json.dumps(settings, indent=indent)
    installed = with_hook(text, EVENT, AGENT, COMMAND)
    assert json.loads(installed) == {**settings, "hooks": read(installed).value["hooks"]}
    assert json.loads(without_hook(installed, EVENT, AGENT)) == settings


@given(values)
def test_what_json_reads_is_read_alike(value: Any) -> None:
    assert read(json.dumps(value)).value == value


@given(st.text(max_size=30))
def test_no_text_is_read_as_json_that_json_refuses(text: str) -> None:
    try:
        value = read(text).value
    except NotJson:
        return
    if "/" not in text and "," not in text:
        assert json.loads(text) == value


def _command() -> str:
    given = Namespace(agent=AGENT, policy="rules", workspace=None, audit=None, caller=None)
    given.deny_asks = given.no_daemon = False
    return hook_command(given)


def comments(text: str) -> list[str]:
    import re

    return re.findall(r"//[^\n]*|/\*.*?\*/", text, re.DOTALL)


def _without_empty(settings: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in settings.items() if name != "hooks"}
    hooks = {event: groups for event, groups in settings.get("hooks", {}).items() if groups}
    return {**kept, "hooks": hooks} if hooks else kept
