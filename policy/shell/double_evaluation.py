"""What bash evaluates twice: arithmetic and subscripts, whose text may run commands.

A text that is computed with is an expression: in a subscript its substitutions run, and a variable
in it is computed in turn. So is the name of a variable, as far as it has a subscript. Each place
where bash does that asks here: a text that holds anything but signs, numbers and names is a gap,
and so is a variable in it that may hold any text (`may_run_texts`, once the whole script is known).
"""

from __future__ import annotations

import re

from policy.shell.shell_state import Findings
from policy.shell.word import Word

# What may become a substitution when it is read again.
_RUNS = re.compile(r"[$`'\"\\]|[<>]\(")
_RUNS_AS_SPELLED = re.compile(r"\$\((?!\()|[`'\\]|[<>]\(")
_ARGUMENT = re.compile(r"\$\{?!?[0-9@*]|\$\{!#")
_IDENTIFIER = re.compile(r"(?<![A-Za-z0-9_#])[A-Za-z_][A-Za-z0-9_]*")
_JOINED = re.compile(r"(?<![A-Za-z0-9_${!#])[A-Za-z_][A-Za-z0-9_]*\"*\$|\}\"*[A-Za-z0-9_$]")
_SUBSCRIPTED = re.compile(r"\"?[A-Za-z_][A-Za-z0-9_]*\[")
# A name with a subscript; as a glob it fits nothing but that name with one letter behind it.
_ELEMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\[\]*?]*\])?(?:\+?=.*)?", re.DOTALL)
_VALUE = re.compile(r"\$\{?!?([A-Za-z_][A-Za-z0-9_]*)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"`\\(@]*\"")
_ODD_QUOTES = re.compile(r"\$'|\\['\"]")
_MARKS = re.compile(r"\$\{|\}|['\"\\]")
# `${x:-…}`
_ALTERNATIVE = re.compile(r"\$\{!?[A-Za-z0-9_]+[^A-Za-z0-9_}]")

# Variables to which the shell itself gives texts that a script chooses.
_ANY_TEXT = frozenset(
    "_ REPLY OPTARG MAPFILE BASH_REMATCH BASH_COMMAND BASH_EXECUTION_STRING BASH_ARGV BASH_ARGV0"
    " BASH_SOURCE BASH_ALIASES BASH_CMDS FUNCNAME DIRSTACK COMP_LINE COMP_WORDS COMPREPLY"
    " READLINE_LINE".split()
)
# Those that compute whatever they are set to.
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
    """Tell whether a variable that may hold any text is computed with.

    `x()` stands for `x` as a list: computed, where it is one; a text, where a declaration gives it
    one that may spell a list.
    """
    return not (
        computed.isdisjoint(texts)
        and computed.isdisjoint(_ANY_TEXT)
        and _COMPUTING.isdisjoint(texts)
        and _LISTS.isdisjoint(texts)
    )


def compute_text(text: str, findings: Findings) -> None:
    """Note what is computed with where exactly this text is."""
    if _RUNS.search(text):
        findings.gap(_SUBSTITUTION)
    findings.computed |= set(_IDENTIFIER.findall(text))


def compute_spelled(spelled: str, findings: Findings) -> None:
    """Note what is computed with where it is spelled so, and not known otherwise."""
    if _RUNS_AS_SPELLED.search(spelled):
        findings.gap(_OUTPUT)
    if _ARGUMENT.search(spelled):
        findings.gap("arithmetic with an argument of the script or a function")
    note_joined(spelled, findings)
    findings.computed |= set(_IDENTIFIER.findall(spelled))


def note_joined(spelled: str, findings: Findings) -> None:
    """Note where values become parts of a name: `q$x` may be any variable that begins with q."""
    if _JOINED.search(spelled):
        findings.gap("arithmetic with a variable whose name is put together")


def compute_values(spelled: str, findings: Findings) -> None:
    """Note what a command may compute that is given the values of variables without quotes."""
    bare = _QUOTED.sub("", spelled)
    if (
        _RUNS_AS_SPELLED.search(bare)
        or _ARGUMENT.search(bare)
        or _ODD_QUOTES.search(spelled)
        or _is_quoted_inside(spelled)
    ):
        findings.gap("words that are not known where variables may be named")
    names = _IDENTIFIER if _ALTERNATIVE.search(bare) else _VALUE
    findings.computed |= set(names.findall(bare))


def _is_quoted_inside(spelled: str) -> bool:
    """Tell whether quotes stand in a `${…}`, so that what they hold cannot be left out."""
    depth = 0
    for mark in _MARKS.finditer(spelled):
        if mark[0] == "${":
            depth += 1
        elif mark[0] == "}":
            depth = max(0, depth - 1)
        elif depth:
            return True
    return False


def name_text(text: str, findings: Findings) -> None:
    """Note what is computed with where exactly this text names a variable."""
    subscript = text.partition("[")[2]
    if subscript:
        compute_text(subscript.rpartition("]")[0] or subscript, findings)


def name_spelled(spelled: str, findings: Findings) -> None:
    """Note what is computed with where a variable's name is spelled so."""
    element = _SUBSCRIPTED.match(spelled)
    compute_spelled(spelled if element is None else spelled[element.end() :], findings)


def name_word(word: Word, findings: Findings) -> str | None:
    """Note what is computed with where a word names a variable; return its name, if known."""
    element = _ELEMENT.fullmatch(word.text)
    if not word.known and (element is None or word.shape != "glob"):
        findings.gap(_NOT_KNOWN)
        return None
    name_text(word.text, findings)
    return None if element is None else element[1]
