"""What a server reports of the sandbox when it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.cli.serving.sandbox_line import sandbox_line
from policy.generation import SandboxSettings
from tests.unit.sandbox.confining import needs_bubblewrap


@needs_bubblewrap
def test_nothing_is_said_of_a_sandbox_that_works() -> None:
    assert sandbox_line(SandboxSettings()) is None


def test_commands_that_are_not_run_are_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    monkeypatch.setattr("policy.sandbox.landlock.version", lambda: 0)
    line = sandbox_line(SandboxSettings())
    assert line is not None
    assert line.startswith("warning: no command is run, since `bwrap` is not installed")
    assert "or write `required = false`" in line
    off = sandbox_line(SandboxSettings(driver="off"))
    assert off is not None and "`[sandbox] driver` is off" in off


def test_commands_that_run_unconfined_are_announced_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = sandbox_line(SandboxSettings(driver="off", required=False))
    start = "warning: commands run without a sandbox: `[sandbox] required` is false, and "
    assert off == f"{start}`[sandbox] driver` is off"
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    none = sandbox_line(SandboxSettings(driver="bubblewrap", required=False))
    assert none is not None and none.startswith(f"{start}`bwrap` is not installed")


@needs_bubblewrap
def test_where_a_sandbox_works_but_is_not_required_it_is_named() -> None:
    line = sandbox_line(SandboxSettings(required=False))
    assert line is not None
    assert line.startswith("warning: commands run without a sandbox where `bubblewrap` fails: ")
