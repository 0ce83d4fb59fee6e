"""Whether a `$(…)` surely prints a number, or nothing.

Numbers are no texts that arithmetic would run. Only what the last program of one pipeline prints
counts: with `;`, `&&` or a group there would be others.
"""

from __future__ import annotations

import re

# One command of a pipeline, as far as nothing in it can be another one.
_BEFORE = r"(?:[^;&|\n`#(){}\\]|[0-9]>&[0-9]|\\[^|\n])+"
_FILE = r"[A-Za-z0-9_./-]+"
_QUIETLY = r"(?:[ \t]+2>[ \t]*/dev/null)?"
_FROM_INPUT = rf"(?:[ \t]*<[ \t]*(?:{_FILE}|\"\$[A-Za-z_][A-Za-z0-9_]*\"))?"
_NUMBER = (
    rf"(?:wc[ \t]+-[lwcm]{_FROM_INPUT}"
    r"|nproc|seq(?:[ \t]+[0-9]+){1,3}|date[ \t]+\+%s|id[ \t]+-[ug])"
)
_COUNTS = re.compile(rf"[ \t\n]*(?:{_BEFORE}\|[ \t\n]*)*+({_NUMBER}){_QUIETLY}[ \t\n]*")
# As many as an everyday pipeline has.
_LONGEST = 400


def counting_program(text: str) -> str:
    """Return the program that prints nothing but numbers as all that a text prints; or nothing."""
    found = _COUNTS.fullmatch(text) if len(text) <= _LONGEST else None
    return "" if found is None else found[1].split()[0].partition("<")[0]
