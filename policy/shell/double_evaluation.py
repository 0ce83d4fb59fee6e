"""Finds text that bash evaluates a second time, as arithmetic or as the name of a variable.

Text in arithmetic is an expression: substitutions in a subscript run, and a variable in it is
evaluated in turn. The same holds for the name of a variable with a subscript. All places where bash
does that use this module: text with anything but operators, numbers and names is a gap, and so is a
variable in it whose value may be any text (`may_run_texts`, once the whole script is known).
"""

from __future__ import annotations

import re

from policy.shell.shell_state import Findings
from policy.shell.word import Word

# Characters that may start a substitution in the second evaluation.
_RUNS = re.compile(r"[$`'\"\\]|[<>]\(")
_RUNS_AS_SPELLED = re.compile(r"\$\((?!\()|[`'\\]|[<>]\(")
_ARGUMENT = re.compile(r"\$\{?!?[0-9@*]|\$\{!#")
_IDENTIFIER = re.compile(r"(?<![A-Za-z0-9_#])[A-Za-z_][A-Za-z0-9_]*")
_JOINED = re.compile(r"(?<![A-Za-z0-9_${!#])[A-Za-z_][A-Za-z0-9_]*\"*\$|\}\"*[A-Za-z0-9_$]")
_SUBSCRIPTED = re.compile(r"\"?[A-Za-z_][A-Za-z0-9_]*\[")
# A name with a subscript; as a glob it matches only that name with one more character.
_ELEMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\[\]*?]*\])?(?:\+?=.*)?", re.DOTALL)
_VALUE = re.compile(r"\$\{?!?([A-Za-z_][A-Za-z0-9_]*)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"`\\(@]*\"")
_ODD_QUOTES = re.compile(r"\$'|\\['\"]")
_MARKS = re.compile(r"\$\{|\}|['\"\\]")
# `${x:-…}`
_ALTERNATIVE = re.compile(r"\$\{!?[A-Za-z0-9_]+[^A-Za-z0-9_}]")

# Variables that the shell sets to texts that a script controls, or to names of folders.
_ANY_TEXT = frozenset(
    "_ PWD OLDPWD REPLY OPTARG MAPFILE BASH_REMATCH BASH_COMMAND BASH_EXECUTION_STRING BASH_ARGV"
    " BASH_ARGV0 BASH_SOURCE BASH_ALIASES BASH_CMDS FUNCNAME DIRSTACK COMP_LINE COMP_WORDS"
    " COMPREPLY READLINE_LINE".split()
)
# Variables that evaluate the assigned text as arithmetic.
_COMPUTING = frozenset(
    "RANDOM SRANDOM SECONDS LINENO HISTCMD OPTIND OPTERR BASHPID BASH_SUBSHELL EPOCHSECONDS"
    " EPOCHREALTIME BASH_MONOSECONDS MAILCHECK UID EUID PPID".split()
)
_LISTS = frozenset(
    f"{name}()"
    for name in "BASH_ALIASES BASH_ARGC BASH_ARGV BASH_CMDS BASH_LINENO BASH_REMATCH BASH_SOURCE"
    " BASH_VERSINFO COMPREPLY COMP_WORDS COPROC DIRSTACK FUNCNAME GROUPS MAPFILE PIPESTATUS".split()
)
COMPUTED_TEXT = "arithmetic with a variable that may hold any text"
_SUBSTITUTION = "a subscript or number with a substitution, which the command runs"
_NOT_KNOWN = "a variable whose name and subscript are not known"
_OUTPUT = "arithmetic with the output of a command"


def may_run_texts(computed: frozenset[str] | set[str], texts: frozenset[str] | set[str]) -> bool:
    """Return whether arithmetic uses a variable that may hold any text.

    `x()` stands for `x` as an array: in `computed`, arithmetic uses it if it is one; in `texts`, a
    declaration may give it a text that spells an array.
    """
    return not (
        computed.isdisjoint(texts)
        and computed.isdisjoint(_ANY_TEXT)
        and _COMPUTING.isdisjoint(texts)
        and _LISTS.isdisjoint(texts)
    )


def note_arithmetic_text(text: str, findings: Findings) -> None:
    """Record what bash evaluates in this exact text."""
    if _RUNS.search(text):
        findings.gap(_SUBSTITUTION)
    findings.computed |= set(_IDENTIFIER.findall(text))


def note_arithmetic_spelling(spelled: str, findings: Findings) -> None:
    """Record what bash evaluates in a text with this spelling whose value is not known."""
    if _RUNS_AS_SPELLED.search(spelled):
        findings.gap(_OUTPUT)
    if _ARGUMENT.search(spelled):
        findings.gap("arithmetic with an argument of the script or a function")
    note_joined(spelled, findings)
    findings.computed |= set(_IDENTIFIER.findall(spelled))


def note_joined(spelled: str, findings: Findings) -> None:
    """Record where values become parts of a name: `q$x` may be any variable that begins with q."""
    if _JOINED.search(spelled):
        findings.gap("arithmetic with a variable whose name is assembled")


def note_arithmetic_values(spelled: str, findings: Findings) -> None:
    """Record what a command may evaluate that gets the values of unquoted variables."""
    bare = _QUOTED.sub("", spelled)
    if (
        _RUNS_AS_SPELLED.search(bare)
        or _ARGUMENT.search(bare)
        or _ODD_QUOTES.search(spelled)
        or _is_quoted_inside(spelled)
    ):
        findings.gap("unknown words where variables may be named")
    names = _IDENTIFIER if _ALTERNATIVE.search(bare) else _VALUE
    findings.computed |= set(names.findall(bare))


def _is_quoted_inside(spelled: str) -> bool:
    """Return whether a `${…}` contains quotes, so that quoted text cannot simply be removed."""
    depth = 0
    for mark in _MARKS.finditer(spelled):
        if mark[0] == "${":
            depth += 1
        elif mark[0] == "}":
            depth = max(0, depth - 1)
        elif depth:
            return True
    return False


def note_name_text(text: str, findings: Findings) -> None:
    """Record what bash evaluates if this exact text is the name of a variable."""
    subscript = text.partition("[")[2]
    if subscript:
        note_arithmetic_text(subscript.rpartition("]")[0] or subscript, findings)


def note_name_spelling(spelled: str, findings: Findings) -> None:
    """Record what bash evaluates if a variable's name is spelled so."""
    element = _SUBSCRIPTED.match(spelled)
    note_arithmetic_spelling(spelled if element is None else spelled[element.end() :], findings)


def note_name_word(word: Word, findings: Findings) -> str | None:
    """Record what bash evaluates in a word that names a variable; return the name if known."""
    element = _ELEMENT.fullmatch(word.text)
    if not word.known and (element is None or word.shape != "glob"):
        findings.gap(_NOT_KNOWN)
        return None
    note_name_text(word.text, findings)
    return None if element is None else element[1]
