"""The canonical text of a script, which is passed to the shell in place of the original."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.shell.not_readable import NotReadable

_SPELLING = re.compile(r"""[\s'"\\;{}]+""")


@dataclass(frozen=True, slots=True)
class NotPrintable:
    """A script that cannot be printed in canonical form."""

    reason: str


def printed(text: str) -> str | NotPrintable:
    """Return the canonical form of a script.

    It is parsed again before it is returned: the result must equal the first parse.
    """
    # Imported here: the parser and the printer are large, and many calls run no script.
    from policy.shell.full_reader import read_tree
    from policy.shell.printer import print_tree

    try:
        tree = read_tree(text)
        form = print_tree(tree)
        again = read_tree(form)
    except NotReadable as problem:
        return NotPrintable(str(problem))
    return (
        form if again == tree else NotPrintable("a script that is parsed differently once printed")
    )


def rewritten_script(text: str) -> str | None:
    """Return the canonical form of a script if it differs by more than spelling, else None.

    Blanks, quotes, the braces of `${x}` and command terminators are spelling.
    """
    form = printed(text)
    if isinstance(form, NotPrintable) or _SPELLING.sub("", form) == _SPELLING.sub("", text):
        return None
    return form


def script_for(tool: str, input: Mapping[str, Any]) -> str | None:
    """Return the script to run for a call, if it differs from the input by more than spelling."""
    command = input.get("command") if tool == "bash_exec" else None
    return rewritten_script(command) if isinstance(command, str) else None
