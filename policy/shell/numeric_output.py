"""Recognises substitutions that print only a number, or only numbers of processes, or nothing.

Numbers are harmless in arithmetic, and no number is an option. Only the output of the last program
of one pipeline may count: with `;`, `&&` or a group there would be others.
"""

from __future__ import annotations

import re

# One command of a pipeline, without characters that may start another one.
_BEFORE = r"(?:[^;&|\n`#(){}\\]|[0-9]>&[0-9]|\\[^|\n])+"
_FILE = r"[A-Za-z0-9_./-]+"
_QUIETLY = r"(?:[ \t]+2>[ \t]*/dev/null)?"
_FROM_INPUT = rf"(?:[ \t]*<[ \t]*(?:{_FILE}|\"\$[A-Za-z_][A-Za-z0-9_]*\"))?"
_NUMBER = (
    rf"(?:wc[ \t]+-[lwcm]{_FROM_INPUT}"
    r"|nproc|seq(?:[ \t]+[0-9]+){1,3}|date[ \t]+\+%s|id[ \t]+-[ug])"
)
_COUNTS = re.compile(rf"[ \t\n]*(?:{_BEFORE}\|[ \t\n]*)*+({_NUMBER}){_QUIETLY}[ \t\n]*")
# Enough for an everyday pipeline.
_LONGEST = 400


def number_printing_program(text: str) -> str:
    """Return the program that prints a number as the only output of a text, or an empty string."""
    found = _COUNTS.fullmatch(text) if len(text) <= _LONGEST else None
    return "" if found is None else found[1].split()[0].partition("<")[0]


# A word without expansions.
_ARGUMENT = r"(?:[A-Za-z0-9_./:@,=-]+|'[^'\n]*'|\"[^\"$`\\\n]*\")"
_PROCESSES = re.compile(
    rf"[ \t\n]*(pgrep|pidof|lsof)((?:[ \t]+{_ARGUMENT})+){_QUIETLY}"
    r"(?:[ \t]*\|[ \t]*(?:head|tail)[ \t]+-(?:n[ \t]*)?[0-9]+)?[ \t\n]*"
)
_ARGUMENTS = re.compile(_ARGUMENT)
# Options that leave the output as it is: numbers alone.
_PLAIN_OPTIONS = {
    "pgrep": re.compile(r"-[fxnoi]+|-[uUPgGs]|--(?:full|exact|newest|oldest|ignore-case)"),
    "pidof": re.compile(r"-[sxc]+"),
    "lsof": re.compile(r"-[nPt]*i(?:tcp|udp|TCP|UDP)?(?::[0-9]+)?|-[nPt]+|-s[A-Z]+:[A-Z]+"),
}


def process_printing_program(text: str) -> str:
    """Return the program that prints numbers of processes alone, or an empty string."""
    found = _PROCESSES.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return ""
    plain = _PLAIN_OPTIONS[found[1]]
    given = [each.strip("'\"") for each in _ARGUMENTS.findall(found[2])]
    options = [each for each in given if each.startswith("-")]
    if not all(map(plain.fullmatch, options)):
        return ""
    # Without `-t`, `lsof` prints a table.
    terse = any("t" in option.partition("i")[0] for option in options)
    return found[1] if terse or found[1] != "lsof" else ""
