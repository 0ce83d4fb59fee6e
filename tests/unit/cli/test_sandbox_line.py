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


def test_commands_that_may_run_unconfined_are_announced() -> None:
    for settings, how in (
        (SandboxSettings(required=False), "without a sandbox if none works: "),
        (SandboxSettings(driver="off", required=False), "without a sandbox: "),
    ):
        assert sandbox_line(settings) == f"warning: commands run {how}`[sandbox] required` is false"
