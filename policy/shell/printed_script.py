"""The script that the shell gets: printed again, so that it can be read in one way only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.shell.not_readable import NotReadable

_LONGEST_PLAIN = 2_048
_SPELLING = re.compile(r"""[\s'"\\;{}]+""")


@dataclass(frozen=True, slots=True)
class NotPrintable:
    """A script that has no other form than the one it came in."""

    reason: str


def printed(text: str) -> str | NotPrintable:
    """Return the one form of a script that has a single reading.

    It is read again before it is given back: what is read then is what was read at first.
    """
    # Imported here: the reader and the printer are large, and many calls run no script.
    from policy.shell.fast_reader import read_literal_command
    from policy.shell.full_reader import read_tree
    from policy.shell.printer import print_tree

    if len(text) <= _LONGEST_PLAIN and read_literal_command(text) is not None:
        return text
    try:
        tree = read_tree(text)
        form = print_tree(tree)
        again = read_tree(form)
    except NotReadable as problem:
        return NotPrintable(str(problem))
    return form if again == tree else NotPrintable("a script that is read differently once spelled")


def runs_as(text: str) -> str | None:
    """Return the printed form of a script that is more than another spelling of it.

    Blanks, quotes, the braces of `${x}` and what ends a command are spelling.
    """
    form = printed(text)
    if isinstance(form, NotPrintable) or _SPELLING.sub("", form) == _SPELLING.sub("", text):
        return None
    return form


def script_for(tool: str, input: Mapping[str, Any]) -> str | None:
    """Return what the shell gets for a call, if it is a command and more than spelled anew."""
    command = input.get("command") if tool == "bash_exec" else None
    return runs_as(command) if isinstance(command, str) else None
