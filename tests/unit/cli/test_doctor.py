"""`placet doctor`: the installation, the policy, the hooks, and the servers with their pins."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from policy.catalog import LOCK_FILE
from policy.pins import Lock, Reviewed, accepted, definitions_of, write_lock
from policy.plugins import read_plugin
from policy.version import VERSION
from tests.mcp_servers.declaring import SERVER as DECLARING
from tests.mcp_servers.declaring import declaring_server
from tests.mcp_servers.scripted import tool
from tests.unit.cli.running import Ran, rules_in, run
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock

SERVER = Path(__file__).parents[2] / "mcp_servers" / "scripted.py"
SAMPLES = Path(__file__).parents[3] / "docs/samples"
NAMES = ("echo", "note", "fails", "dies", "waits", "grow", "state")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without settings, and a current folder without any."""
    for name in ("home", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home"


def command(folder: Path, mode: str = "") -> list[str]:
    return [sys.executable, "-I", "-S", str(SERVER), mode, str(folder)]


def table(name: str, words: list[str]) -> str:
    return (
        f"[mcp.servers.{name}]\ncommand = {json.dumps(words[0])}\nargs = {json.dumps(words[1:])}\n"
    )


def doctor(rules: Path, *more: str) -> Ran:
    # Trying what gets out of sandboxes takes seconds.
    return run("doctor", rules, "--no-sandbox", *more)


def as_json(rules: Path, *more: str) -> dict[str, Any]:
    return doctor(rules, "--format", "json", *more).record


def test_the_installation_and_a_policy_without_servers(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    done = doctor(rules)
    assert done.code == 0, done.out
    assert done.out.startswith(f"placet {VERSION}, Python 3.")
    assert f"policy {rules} is in force, sha256:" in done.out
    assert "hooks: none is installed\nMCP servers: none is configured\n" in done.out
    found = as_json(rules)
    assert found["well"] and found["servers"] == found["hooks"] == []
    assert found["installation"]["extras"]["mcp"] is True


@pytest.mark.parametrize(
    ("text", "said"), [("nonsense", "is not in force: "), (None, "is not in force: ")]
)
def test_a_policy_that_is_not_in_force(text: str | None, said: str, tmp_path: Path) -> None:
    rules = tmp_path / "none" if text is None else rules_in(tmp_path, text)
    done = doctor(rules)
    assert done.code == 1 and f"! policy {rules} {said}" in done.out
    assert as_json(rules)["well"] is False


def test_each_server_has_its_state_era_pins_and_last_error(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    (rules / "placet.toml").write_text(
        table("new", command(tmp_path / "a"))
        + table("broken", command(tmp_path / "b", "ends"))
        + table("known", command(tmp_path / "c"))
    )
    definitions = definitions_of(
        "known",
        tools=[tool(name, "Something else." if name == "note" else "") for name in NAMES[1:]],
        instructions="Be kind.",
        program=_program(command(tmp_path / "c")),
    )
    lock = accepted(Lock(), definitions, reviewed=Reviewed(by="ada", at="2026-11-23T08:00:00Z"))
    (rules / LOCK_FILE).write_bytes(write_lock(lock))
    done = doctor(rules)
    assert done.code == 1
    assert "server new: stdio, reached, with a handshake (2025-06-18), 8 tools: 8 new\n" in done.out
    assert f"  next: `placet pin accept {rules} --server new`\n" in done.out
    assert "server broken: stdio, failed\n  ! the server has ended with exit status 3" in done.out
    assert "8 tools: 1 changed, 2 new, 5 as accepted\n" in done.out
    assert f"  ! see `placet pin review {rules} --server known`\n" in done.out
    found = {server["name"]: server for server in as_json(rules)["servers"]}
    assert found["new"]["era"] == "handshake" and found["new"]["pins"] == {"new": 8}
    assert found["broken"]["state"] == "failed"
    assert found["known"]["pins"] == {"changed": 1, "new": 2, "unchanged": 5}


def test_tools_that_are_left_out_are_not_called_missing(tmp_path: Path) -> None:
    """Reviewed or not, they are named with the reason."""
    hinted = {**tool("hinted"), "annotations": {"readOnlyHint": "yes"}}
    script = {"tools": [tool("fine"), tool("with/slash"), {**tool("odd"), "icons": 7}, hinted]}
    (tmp_path / "script.json").write_text(json.dumps(script))
    rules = rules_in(tmp_path)
    (rules / "placet.toml").write_text(declaring_server(tmp_path / "script.json", "f"))
    tools = [tool(name) for name in ("fine", "with/slash", "gone")]
    words = [sys.executable, "-I", "-S", str(DECLARING), str(tmp_path / "script.json")]
    definitions = definitions_of("f", tools=tools, program=_program(words))
    lock = accepted(Lock(), definitions, reviewed=Reviewed(by="ada", at="2026-11-23T08:00:00Z"))
    (rules / LOCK_FILE).write_bytes(write_lock(lock))
    out = doctor(rules).out
    assert "1 tool: 3 left out, 1 no longer declared, 1 as accepted\n" in out
    assert "  ! left out: tool `odd`: `icons` is not valid: Input should be a valid list\n" in out
    assert "  ! left out: tool `hinted`: `annotations.readOnlyHint` is not a boolean\n" in out
    assert "  ! left out: tool `with/slash`: clients accept letters, digits, `_`, `-` and" in out


def _program(words: list[str]) -> Any:
    from policy.mcp import resolved_program

    return resolved_program(words, said="1")


def test_servers_are_not_started_if_that_is_not_wanted(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    (rules / "placet.toml").write_text(table("one", command(tmp_path)))
    done = doctor(rules, "--no-servers")
    assert (done.code, "server one: stdio, not asked\n" in done.out) == (0, True)
    assert not (tmp_path / "starts").exists()


def test_a_server_that_takes_too_long_has_failed(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    (rules / "placet.toml").write_text(table("one", command(tmp_path, "hangs")))
    done = doctor(rules, "--timeout", "0.5")
    assert done.code == 1
    assert "! the server has not listed its tools within 0.5 seconds" in done.out


@pytest.mark.people
def test_hooks_are_listed_with_their_policy(tmp_path: Path, home: Path) -> None:
    rules = rules_in(tmp_path)
    assert "next" not in doctor(rules).out
    assert run("hook", "claude-code", "--install", "--policy", rules).code == 0
    file = home / ".claude" / "settings.json"
    done = doctor(rules)
    assert (done.code, f"hook of claude-code: in {file}, with this policy\n" in done.out) == (
        0,
        True,
    )
    other = doctor(rules / "global.policy")
    assert f"with the policy {rules}\n" in other.out
    settings = json.loads(file.read_text())
    file.write_text(json.dumps({**settings, "disableAllHooks": True}))
    off = doctor(rules)
    assert off.code == 1 and "! `disableAllHooks` is true" in off.out
    file.write_text(json.dumps(settings))
    rules.rename(tmp_path / "moved")
    gone = doctor(tmp_path / "moved")
    assert gone.code == 1 and "its policy is not there, so every call is denied" in gone.out
    file.write_text("{")
    broken = doctor(tmp_path / "moved")
    assert broken.code == 1 and "the file cannot be read" in broken.out


@needs_bubblewrap
@needs_landlock
def test_each_sandbox_is_tried(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    done = run("doctor", rules)
    assert done.code == 0, done.out
    lines = done.out[done.out.index("sandbox: ") :].splitlines()
    assert lines[0] == "sandbox: commands are confined by `best`"
    assert lines[1].startswith("  bubblewrap: works here; ")
    assert lines[1].endswith("attempts to get out, all stopped")
    assert "not stopped: change permissions of a file outside" in lines[2]
    assert lines[3].startswith("  not stopped by any, and not tried: take all inotify")


def test_a_sandbox_that_does_not_work_is_wrong_where_it_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = rules_in(tmp_path)
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    monkeypatch.setattr("policy.sandbox.landlock.version", lambda: 0)
    monkeypatch.setattr("policy.sandbox.fixes.MODULES", tmp_path / "modules")
    (tmp_path / "modules").write_text("capability,apparmor\n")
    unnamed = run("doctor", rules)
    assert unnamed.code == 0
    assert "\nsandbox: `best` does not work here, so commands of `bash_exec` are not" in unnamed.out
    (rules / "placet.toml").write_text('[sandbox]\ndriver = "best"\n')
    done = run("doctor", rules)
    assert done.code == 1
    assert (
        "! sandbox: `best` does not work here, so commands of `bash_exec` are not run" in done.out
    )
    assert "  install the package `bubblewrap`, or write `required = false`" in done.out
    assert "  bubblewrap: does not work here: `bwrap` is not installed" in done.out
    assert "    switch Landlock on by the kernel's parameter `lsm=`" in done.out
    assert run("hook", "claude-code", "--install", "--policy", rules).code == 0
    hooked = run("doctor", rules)
    assert (hooked.code, "\nsandbox: `best` does not work here" in hooked.out) == (0, True)
    (rules / "placet.toml").write_text('[sandbox]\ndriver = "best"\nrequired = false\n')
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "! `bash` is not installed here, so `bash_exec` runs nothing" in run("doctor", rules).out
    assert "so commands of `bash_exec` run unconfined" in run("doctor", rules).out


def test_plugins_are_as_reviewed_or_do_not_run(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    folder = tmp_path / "plugin"
    shutil.copytree(SAMPLES / "notes", folder)
    settings = '[plugins.notes]\npath = "{}"\ndigest = "{}"\n'
    digest = read_plugin(folder).digest
    (rules / "placet.toml").write_text(settings.format(folder, digest))
    done = doctor(rules)
    assert done.code == 0, done.out
    assert "\nplugin notes: process, as reviewed\n" in done.out
    (folder / "main.js").write_text("evil()")
    done = doctor(rules)
    assert done.code == 1
    assert "plugin notes: does not run\n  ! its files are not those that were reviewed" in done.out
    (record,) = as_json(rules)["plugins"]
    assert record["runtime"] is None and digest in record["problem"]
