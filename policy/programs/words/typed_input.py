"""Whether the input of a program may contain commands that it runs.

Interactive programs treat lines that begin with an escape as commands, some of which start a shell:
`~!` in a message for `mail`, `!` after `^]` in `telnet`.
"""

from __future__ import annotations

import re

from policy.shell import SimpleCommand, Word

_ESCAPE = re.compile(r"^[ \t]*[~!]|[\x00-\x08\x0e-\x1f\\%]")
_PRINTING = ("echo", "printf")


def has_input(command: SimpleCommand) -> bool:
    """Return whether the script provides the input of a command."""
    return command.stdin is not None or command.piped or _reads_a_file(command)


def may_be_typed(command: SimpleCommand) -> bool:
    """Return whether the input of a command may contain a command of its program."""
    if command.stdin is not None:
        return _may_escape(command.stdin)
    if _reads_a_file(command):
        return True
    if not command.piped:
        return False
    said = command.fed_by
    if not said or said[0].text not in _PRINTING:
        return True
    return any(map(_may_escape, said[1:]))


def _reads_a_file(command: SimpleCommand) -> bool:
    return any(
        one.op.startswith("<") and one.target.text != "/dev/null" for one in command.redirections
    )


def _may_escape(text: Word) -> bool:
    return not text.known or any(map(_ESCAPE.search, text.text.splitlines()))
