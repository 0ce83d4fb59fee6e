"""Every command that bash runs of a script is among those that our parser finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from policy.shell import read_script
from policy.values import Unreadable
from tests.examples import examples
from tests.laws.executed_commands import may_be, ran
from tests.laws.shell_scripts import scripts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shell")


@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(script=scripts())
def test_no_command_that_bash_runs_is_missing(script: str, folder: Path) -> None:
    # Loops that wait for a program to fail or for an answer would not end.
    assume(not any(word in script for word in ("while", "until", "select", "coproc")))
    read = read_script(script)
    assume(not isinstance(read, Unreadable) and not read.gaps)
    assert not isinstance(read, Unreadable)
    for words in ran(script, folder):
        assert any(may_be(command, words) for command in read.commands if command.words), words
