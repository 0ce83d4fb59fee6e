"""`placet hook` and its settings, run in this process: output and exit status."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from policy.cli import hook_call
from policy.cli.agent_settings import entry

pytestmark = pytest.mark.people

Run = Callable[..., tuple[int, str, str]]


class _Ended(BaseException):
    """The process would have ended."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command as in a process of its own."""
    for name in ("rules", "project", "home", "run"):
        (tmp_path / name).mkdir()
    (tmp_path / "rules" / "g.policy").write_text(
        "policy for every agent\n\ndefault deny\nread: allow file_read when reads only workspace\n"
    )
    monkeypatch.chdir(tmp_path / "project")
    for name in ("PLACET_CALL", "CLAUDECODE", "GEMINI_CLI", "CLAUDE_PROJECT_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))

    def ended(status: int) -> None:
        raise _Ended(status)

    monkeypatch.setattr(os, "_exit", ended)

    def running(*words: str, given: str | bytes = "") -> tuple[int, str, str]:
        raw = given.encode() if isinstance(given, str) else given
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(raw)))
        capfd.readouterr()
        with pytest.raises((_Ended, SystemExit)) as caught:
            hook_call.run_hook(list(words))
        told = capfd.readouterr()
        return int(caught.value.args[0] or 0), told.out, told.err

    return running


def asked(project: Path, path: str) -> str:
    given = {
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": path},
    }
    return json.dumps(given)


HERE = ("claude-code", "--policy", "../rules", "--no-daemon")


def test_an_answer_goes_to_standard_output(run: Run, tmp_path: Path) -> None:
    status, out, err = run(*HERE, given=asked(tmp_path / "project", "a"))
    assert (status, err) == (0, "")
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "allow"


@pytest.mark.parametrize("words", [(), ("emacs",), ("codex",), (*HERE, "--polcy", "x")])
def test_wrong_usage_blocks_with_a_reason(run: Run, words: tuple[str, ...]) -> None:
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert err


def test_what_fails_blocks_with_a_reason(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(request: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("policy.daemon.client._decided_here", broken)
    status, out, err = run(*HERE, given="{}")
    assert (status, out) == (2, "")
    assert "RuntimeError: on purpose" in err
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_decision_that_takes_too_long_blocks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(request: object) -> Any:
        while True:
            pass

    monkeypatch.setattr("policy.daemon.client._decided_here", slow)
    monkeypatch.setattr("policy.daemon.client.FOR_ITSELF", 0.05)
    status, out, err = run(*HERE, given="{}")
    assert (status, out) == (2, "")
    assert "in time" in err


def test_an_input_that_does_not_come_blocks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    monkeypatch.setattr("policy.daemon.client.FOR_THE_INPUT", 0.05)
    monkeypatch.setattr(hook_call, "_request", lambda given: {"input": os.read(reading, 1)})
    try:
        status, out, err = run(*HERE)
    finally:
        os.close(reading)
        os.close(writing)
    assert (status, out) == (2, "")
    assert "in time" in err


def test_a_folder_that_was_deleted_blocks_with_a_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    status, out, err = run("claude-code", "--policy", str(tmp_path / "rules"), "--no-daemon")
    assert (status, out) == (2, "")
    assert "no longer exists" in err
    assert "Errno" not in err


def test_an_input_that_is_too_long_blocks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_call, "LONGEST_INPUT", 10)
    status, out, err = run(*HERE, given="{}" * 6)
    assert (status, out) == (2, "")
    assert "too long" in err


def test_the_settings_are_shown_then_written_with_a_backup(run: Run, tmp_path: Path) -> None:
    settings = tmp_path / "home" / ".claude" / "settings.json"
    settings.parent.mkdir()
    before = '{\n  // mine\n  "model": "x"\n}\n'
    settings.write_text(before)
    words = ("claude-code", "--policy", "../rules", "--install")
    status, out, _ = run(*words, "--dry-run")
    assert (status, settings.read_text()) == (0, before)
    assert "+  " in out
    assert run(*words)[0] == 0
    assert "// mine" in settings.read_text()
    assert settings.with_name("settings.json.before-placet").read_text() == before
    assert "is unchanged" in run(*words)[1]
    assert run("claude-code", "--uninstall")[0] == 0
    assert settings.read_text() == before
    assert "is unchanged" in run("claude-code", "--uninstall")[1]


def test_the_backup_is_as_private_as_the_settings_and_outlives_an_uninstall(
    run: Run, tmp_path: Path
) -> None:
    settings = tmp_path / "home" / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"token": "secret"}')
    settings.chmod(0o600)
    backup = settings.with_name("settings.json.before-placet")
    backup.write_text("older")
    backup.chmod(0o644)
    assert run("claude-code", "--policy", "../rules", "--install")[0] == 0
    assert backup.stat().st_mode & 0o777 == 0o600
    assert run("claude-code", "--policy", "../rules", "--install", "--no-daemon")[0] == 0
    assert run("claude-code", "--uninstall")[0] == 0
    assert backup.read_text() == settings.read_text() == '{"token": "secret"}'


@pytest.mark.parametrize("before", [b'{\r\n  "a": 1\r\n}\r\n', b'\xef\xbb\xbf{"a": 1}'])
def test_line_ends_and_a_byte_order_mark_are_kept(run: Run, tmp_path: Path, before: bytes) -> None:
    settings = tmp_path / "s.json"
    settings.write_bytes(before)
    words = ("claude-code", "--policy", "../rules", "--settings", str(settings))
    assert run(*words, "--install")[0] == 0
    installed = settings.read_bytes()
    assert b"PreToolUse" in installed
    assert installed.startswith(before[:3])
    assert installed.count(b"\n") == installed.count(b"\r\n") or b"\r" not in before
    assert run(*words, "--uninstall")[0] == 0
    assert settings.read_bytes() == before


def test_settings_that_switch_all_hooks_off_are_told_of(run: Run, tmp_path: Path) -> None:
    settings = tmp_path / "s.json"
    settings.write_text('{"disableAllHooks": true}')
    words = ("claude-code", "--policy", "../rules", "--settings", str(settings))
    status, _, err = run(*words, "--install")
    assert status == 0
    assert "`disableAllHooks`" in err
    assert "set it to false" in err
    assert "disableAllHooks" not in run(*words, "--uninstall")[2]


def test_a_link_to_settings_stays_a_link(run: Run, tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "home" / "s.json"
    real.write_text("{}\n")
    link.symlink_to(real)
    words = ("codex", "--policy", "../rules", "--install", "--settings", str(link))
    status, out, _ = run(*words)
    assert status == 0
    assert "/hooks" in out
    assert link.is_symlink()
    assert "PreToolUse" in real.read_text()


def test_a_folder_that_the_user_chose_is_where_the_settings_are(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    assert run("codex", "--policy", "../rules", "--install")[0] == 0
    assert (tmp_path / "codex" / "hooks.json").exists()


@pytest.mark.parametrize(
    ("told", "asks"),
    [(None, False), ("0.35.2", False), ("0.36.0", True), ("1.0", True), ("?", False)],
)
def test_gemini_is_asked_only_where_it_asks(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str | None, asks: bool
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    if told is not None:
        (programs / "gemini").write_text(f"#!/bin/sh\necho {told}\n")
        (programs / "gemini").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    assert entry.gemini_can_ask() is asks
    assert run("gemini-cli", "--policy", "../rules", "--install")[0] == 0
    settings = (tmp_path / "home" / ".gemini" / "settings.json").read_text()
    assert ("--deny-asks" in settings) is not asks


def test_settings_that_cannot_be_edited_stay(run: Run, tmp_path: Path) -> None:
    settings = tmp_path / "s.json"
    settings.write_text("{")
    words = ("codex", "--policy", "../rules", "--settings", str(settings))
    assert run(*words, "--install")[0] == 1
    assert settings.read_text() == "{"
    assert run(*words, "--install", "--uninstall")[0] == 2
    assert run("codex", "--policy", "nowhere", "--install")[0] == 2
    settings.unlink()
    assert run(*words, "--uninstall")[0] == 0
    assert not settings.exists()


def test_tools_without_resources_are_listed_for_a_catalogue(run: Run) -> None:
    status, out, _ = run("claude-code", "--tools")
    assert status == 0
    names = [tool["name"] for tool in json.loads(out)["tools"]]
    assert "TodoWrite" in names
    assert "Bash" not in names


def test_a_file_that_the_installation_made_goes_with_the_hook(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "home" / ".claude" / "settings.json"
    assert run("claude-code", "--policy", "../rules", "--install")[0] == 0
    status, out, err = run("claude-code", "--uninstall")
    assert (status, err) == (0, "")
    assert out.endswith(f"removed {file}, which the installation had made\n")
    assert not file.exists()


def test_settings_that_were_empty_before_stay(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "home" / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{}\n")
    assert run("claude-code", "--policy", "../rules", "--install")[0] == 0
    assert run("claude-code", "--uninstall")[0] == 0
    assert file.read_text() == "{}\n"


def test_an_edit_of_settings_whose_output_nobody_reads_ends_quietly(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("policy.cli.agent_settings.editing.click.echo", closed)
    monkeypatch.setattr("os.dup2", lambda *_: None)
    assert run("claude-code", "--policy", "../rules", "--install", "--dry-run") == (1, "", "")
