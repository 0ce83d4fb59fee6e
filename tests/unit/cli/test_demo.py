"""The demo goes on where no sandbox works."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.cli.demo.stage import staged
from policy.generation import configuration, read_folder
from tests.unit.sandbox.confining import needs_bubblewrap


def settings_of(rules: Path) -> tuple[bool, str]:
    sandbox = configuration(read_folder(rules)).settings.sandbox
    return sandbox.required, sandbox.driver


@needs_bubblewrap
def test_its_commands_are_confined_where_a_sandbox_works() -> None:
    with staged() as stage:
        assert not stage.unconfined
        assert settings_of(stage.rules) == (True, "best")


def test_its_commands_run_without_one_where_none_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    monkeypatch.setattr("policy.sandbox.landlock.version", lambda: 0)
    with staged() as stage:
        assert stage.unconfined
        assert settings_of(stage.rules) == (False, "best")
