"""Report the words of every command that bash would run of a script, without starting a program."""

from __future__ import annotations

from pathlib import Path

from policy.shell import SimpleCommand
from tests.laws.real_shells import run

# No program is found, so that bash hands the words of each command to this function. One that
# calls itself comes to an end.
_LOGGING = """\
FUNCNEST=6
exec 9>log
command_not_found_handle() { printf '%s\\0' "$#" "$@" >&9; }
PATH=/nowhere
"""


def ran(script: str, folder: Path, *, defining: str = "") -> list[list[str]]:
    """Return the words of all commands that bash runs, but for those of its own.

    The functions of `defining` are there too; what they print to 9 counts as commands.
    """
    run(
        "/bin/bash",
        _LOGGING + defining + script,
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
