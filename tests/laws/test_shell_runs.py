"""Whatever bash runs of a script is among the commands that ours finds in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from policy.commands.bash import read_script
from policy.commands.script import SimpleCommand
from policy.values import Unreadable
from tests.laws.real_shells import run
from tests.laws.shell_scripts import scripts

# No program is found, so that bash hands the words of each command to this function. One that
# calls itself comes to an end.
_LOGGING = """\
FUNCNEST=6
exec 9>log
command_not_found_handle() { printf '%s\\0' "$#" "$@" >&9; }
PATH=/nowhere
"""


def ran(script: str, folder: Path) -> list[list[str]]:
    """Return the words of all commands that bash runs, but for those of its own."""
    run(
        "/bin/bash",
        _LOGGING + script,
        folder=folder,
        env={"HOME": "/home/dev", "LC_ALL": "C.UTF-8"},
    )
    fields = iter((folder / "log").read_text(errors="replace").split("\0")[:-1])
    return [[next(fields, "") for _ in range(int(count))] for count in fields]


def may_be(command: SimpleCommand, words: list[str]) -> bool:
    """Tell whether a command may be what bash ran with these words."""
    place = 0
    for word in command.words:
        text = "/home/dev" + word.text[1:] if word.home else word.text
        if word.many:
            return True
        if place >= len(words):
            return False
        if word.known and text != words[place]:
            return False
        if word.shape == "opaque" and not words[place].startswith(text):
            return False
        place += 1
    return place == len(words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shell")


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(script=scripts())
def test_no_command_that_bash_runs_is_missing(script: str, folder: Path) -> None:
    # Loops that wait for a program to fail or for an answer would not end.
    assume(not any(word in script for word in ("while", "until", "select", "coproc")))
    read = read_script(script)
    assume(not isinstance(read, Unreadable) and not read.gaps)
    assert not isinstance(read, Unreadable)
    for words in ran(script, folder):
        assert any(may_be(command, words) for command in read.commands if command.words), words
