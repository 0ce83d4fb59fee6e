"""The shell's builtins: how each changes the state of the shell, and the gaps it leaves."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, replace
from types import MappingProxyType

from policy.shell.control_flow import (
    CONTROL_FLOW,
    LEAVING,
    MOVING,
    follow_function_call,
    follow_set_e,
)
from policy.shell.shell_state import ShellState
from policy.shell.traps import set_trap
from policy.shell.variable_builtins import NAMING, TESTING, check_declared, variables_set
from policy.shell.word import Assignment, Word

_DECLARING = frozenset({"declare", "typeset", "local", "export", "readonly"})
_SOURCING = frozenset({".", "source"})
_EVALUATING = frozenset({"eval", ".", "source", "exec"})
_WRAPPING = frozenset({"command", "builtin", "exec"})
_DECLARED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^]]*\])?(\+?)(?:=(.*))?", re.DOTALL)
_HARMLESS_SET = re.compile(r"[-+][ehuxvmnbCET]+o?|--?")
_HARMLESS_OPTIONS = frozenset(
    "errexit nounset pipefail xtrace verbose noclobber errtrace functrace monitor notify noglob"
    " noexec hashall".split()
)
_HARMLESS_SHOPT = frozenset(
    "-s -u -q -p nullglob globstar dotglob failglob extglob nocaseglob nocasematch"
    " inherit_errexit".split()
)


@dataclass(frozen=True, slots=True)
class SpelledCommand:
    """A command as spelled: its text, and the positions of the words that are `NAME=(…)`.

    `bare`: without redirections and assignments, so nothing can fail before it runs.
    """

    text: str
    lists: tuple[int, ...] = ()
    bare: bool = False


def apply_builtin(words: tuple[Word, ...], shell: ShellState, *, spelled: SpelledCommand) -> None:
    """Apply the effects of a command to the state of the shell that runs it."""
    program = words[0]
    if not program.known:
        _lose_all(shell)
        return
    name = program.text
    if name in shell.findings.defined:
        follow_function_call(name, shell, bare=spelled.bare)
    elif name in CONTROL_FLOW:
        CONTROL_FLOW[name](words, shell, bare=spelled.bare)
    elif name in _DECLARING:
        _declare(words, shell, lists=spelled.lists)
    elif name in NAMING:
        _set_named(words, shell, spelled.text)
    elif name in _EVALUATING:
        if name in _SOURCING:
            # A sourced file is not analysed, as in `bash x.sh`; it may set any variable.
            shell.values = None
            shell.functions = frozenset()
            shell.findings.jumps += 1
            shell.findings.forgiving = shell.findings.replaced_functions = True
        elif name != "exec":
            _lose_all(shell)
    elif name in _WRAPPING:
        _unwrap(words, shell, spelled)
    elif name in _OTHERS:
        if name == "set":
            follow_set_e(words, shell, bare=spelled.bare)
        _OTHERS[name](words, shell)


def _lose_all(shell: ShellState) -> None:
    """Make everything unknown: any code may have run in this shell."""
    shell.lose_folder()
    shell.values = None
    shell.functions = frozenset()
    shell.findings.jumps += 1
    shell.findings.forgiving = shell.findings.replaced_functions = True


def _unwrap(words: tuple[Word, ...], shell: ShellState, spelled: SpelledCommand) -> None:
    """Apply `command cd`, `builtin read` and the like, as if anything may have happened."""
    position = 0
    while position < len(words) and (
        words[position].text in _WRAPPING or words[position].text.startswith("-")
    ):
        position += 1
    inner = words[position:]
    if not inner or not inner[0].known or inner[0].text in MOVING | _EVALUATING:
        _lose_all(shell)
    else:
        if inner[0].text in LEAVING:
            shell.findings.jumps += 1
            return
        apply_builtin(inner, shell, spelled=replace(spelled, bare=False))


def _declare(words: tuple[Word, ...], shell: ShellState, *, lists: tuple[int, ...]) -> None:
    """Apply `export X=1` and the like."""
    name = words[0].text
    options = "".join(word.text[1:] for word in words[1:] if word.text[:1] == "-")
    exported = name == "export" or "x" in options
    if name not in ("export", "readonly") and options.strip("xgr"):
        # With `-i`, `-u` or `-n` the value of a variable differs from the assigned text.
        shell.values = None
    if "f" in options and exported:
        shell.findings.gap("a function exported to other shells")
    if "i" in options and name not in ("export", "readonly"):
        shell.findings.gap("a variable whose value is evaluated")
    if "n" in options and name not in ("export", "readonly"):
        shell.findings.gap("a variable that refers to another one")
    for position, word in enumerate(words):
        if position and position not in lists:
            check_declared(
                word, makes_list="a" in options or "A" in options, findings=shell.findings
            )
    _assign_declared(words, shell, exported=exported)
    if name == "readonly" or "r" in options:
        _fix(words, shell)


def _assign_declared(words: tuple[Word, ...], shell: ShellState, *, exported: bool) -> None:
    for word in words[1:]:
        declared = _DECLARED.fullmatch(word.text)
        if declared is None or word.text[:1] in ("-", "+"):
            continue
        if declared[3] is None and word.known:
            if exported:
                # Programs see the earlier value from here on.
                value = (shell.values or {}).get(declared[1])
                given = Word(value) if isinstance(value, str) else Word("", "opaque")
                shell.assign(Assignment(declared[1], given), exported=True)
            shell.forget(declared[1])
            continue
        shape = word.shape if word.known or word.shape == "opaque" else "known"
        value_word = Word(declared[3] or "", shape)
        given_assignment = Assignment(declared[1], value_word, bool(declared[2]))
        shell.assign(given_assignment, exported=exported)
        shell.forget(declared[1])


def _fix(words: tuple[Word, ...], shell: ShellState) -> None:
    """Record the variables that cannot be set from here on; `*` where they are not known."""
    for word in words[1:]:
        declared = _DECLARED.fullmatch(word.text)
        if declared is not None:
            shell.findings.fixed.add(declared[1])
        elif not word.known:
            shell.findings.fixed.add("*")


def _set_named(words: tuple[Word, ...], shell: ShellState, spelled: str) -> None:
    """Make the variables unknown that a command's words may name."""
    named = variables_set(words, spelled, shell.findings)
    if words[0].text in TESTING or (words[0].text == "printf" and not _may_set(words)):
        return
    if words[0].text == "unset":
        shell.functions = frozenset()
        defined = shell.findings.defined
        if any(
            not word.known or word.text in defined or (word.text[:1] == "-" and "f" in word.text)
            for word in words[1:]
        ):
            shell.findings.replaced_functions = True
    if words[0].text in ("mapfile", "readarray") and any("C" in word.text for word in words[1:]):
        shell.findings.gap("a command that runs for each line read")
    if words[0].text == "read":
        shell.forget("REPLY")
    if any(not word.known for word in words[1:]):
        shell.values = None
    for name in named:
        if words[0].text == "let":
            shell.set_number(name)
            continue
        if words[0].text == "unset":
            shell.unset(name)
            continue
        shell.set_unknown(name)
        shell.findings.computed.add(f"{name}()")


def _may_set(words: tuple[Word, ...]) -> bool:
    """Return whether a `printf` may have the option that sets a variable."""
    first = words[1] if len(words) > 1 else Word("")
    return first.text.startswith("-v") or (not first.known and "-v".startswith(first.text))


def _set(words: tuple[Word, ...], shell: ShellState) -> None:
    rest = iter(words[1:])
    for word in rest:
        if word.known and word.text in ("--", "-"):
            return
        if word.text[:1] not in ("-", "+"):
            if not word.known and not word.text:
                break
            return
        if not word.known or not _HARMLESS_SET.fullmatch(word.text):
            break
        if word.text.endswith("o"):
            option = next(rest, None)
            if option is not None and option.text not in _HARMLESS_OPTIONS:
                break
    else:
        return
    shell.findings.gap("a shell option that changes how it reads scripts")


def _shopt(words: tuple[Word, ...], shell: ShellState) -> None:
    if any(not word.known or word.text not in _HARMLESS_SHOPT for word in words[1:]):
        shell.findings.gap("a shell option that changes how it reads scripts")
    if any(word.text == "failglob" for word in words):
        shell.findings.failing = True


def _alias(words: tuple[Word, ...], shell: ShellState) -> None:
    shell.findings.replaced_functions = True
    for word in words[1:]:
        name, equals, body = word.text.partition("=")
        if not word.known and not equals:
            shell.findings.gap("an alias that is not known")
        elif equals:
            if is_relied_on(name):
                shell.findings.gap("an alias with the name of a builtin")
            if not word.known or body[-1:] in (" ", "\t"):
                shell.findings.gap("an alias that is not known")
            shell.aliases = MappingProxyType({**shell.aliases, name: body})


def _hash(words: tuple[Word, ...], shell: ShellState) -> None:
    if any(
        not word.known or word.text[:2] in ("-p", "-t") or "p" in word.text[1:2]
        for word in words[1:]
        if word.text[:1] == "-" or not word.known
    ):
        shell.findings.gap("`hash`, which changes what a name runs")


def _enable(words: tuple[Word, ...], shell: ShellState) -> None:
    if len(words) > 1:
        shell.findings.gap("`enable`, which changes what a name runs")


def _trap(words: tuple[Word, ...], shell: ShellState) -> None:
    set_trap(words, shell, lose_all=_lose_all, is_followed=is_builtin)


_OTHERS = {
    "trap": _trap,
    "set": _set,
    "shopt": _shopt,
    "alias": _alias,
    "hash": _hash,
    "enable": _enable,
}
_FOLLOWED = (
    CONTROL_FLOW.keys() | _EVALUATING | _WRAPPING | _DECLARING | NAMING | {"[["} | _OTHERS.keys()
)
_RELIED_ON = _FOLLOWED | {"true", "false", ":", "pwd", "echo"}


def is_builtin(name: str, functions: Container[str] = frozenset()) -> bool:
    """Return whether `apply_builtin` handles commands of this name."""
    return name in _FOLLOWED or name in functions


def declares(program: Word) -> bool:
    """Return whether the words of a command may be assignments, as those of `export` are."""
    return program.text in _DECLARING


def is_relied_on(name: str) -> bool:
    """Return whether a function or alias of this name would invalidate the analysis."""
    return name in _RELIED_ON
