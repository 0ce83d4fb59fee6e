"""Builtins that change the folder or the control flow: `cd`, `pushd`, `exit`, `break`, `set -e`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Protocol

from policy.shell.shell_state import ShellState
from policy.shell.word import Word

# Operands that `exit` accepts: with two operands it does not end the shell.
_STATUS = re.compile(r"[0-9]{1,3}")


class Follow(Protocol):
    """Applies a builtin. `bare`: it has no redirections or assignments that may fail before."""

    def __call__(self, words: tuple[Word, ...], shell: ShellState, *, bare: bool) -> None:
        """Apply the command's effects to the shell."""


def follow_function_call(name: str, shell: ShellState, *, bare: bool) -> None:
    """Apply the effects of calling a function that the script defines."""
    shell.forget_values()
    findings = shell.findings
    if findings.wandering:
        shell.lose_folder()
    elif (
        name in shell.ending
        and bare
        and findings.defined[name] == 1
        and not findings.replaced_functions
    ):
        shell.end()


def follow_set_e(words: tuple[Word, ...], shell: ShellState, *, bare: bool) -> None:
    """Apply `set -e` where it surely runs, and `set +e` wherever it appears."""
    on = off = False
    for before, word in pairwise(words):
        named = word.text == "errexit" and before.text[-1:] == "o"
        sign = before.text[:1] if named else word.text[:1]
        if named or (sign in ("-", "+") and "e" in word.text):
            on, off = on or sign == "-", off or sign != "-"
    if off:
        shell.findings.forgiving = True
    elif on and bare and not shell.conditional and not shell.findings.depth:
        shell.stops = True


def cd_target(words: tuple[Word, ...]) -> Word | None:
    """Return the operand of a plain `cd`; None for any other."""
    if len(words) > 2:
        return None
    if len(words) == 1:
        return Word("~", home=True)
    target = words[1]
    if not target.text or (target.text.startswith(("-", "+")) and not target.home):
        return None
    return target


def _exit(words: tuple[Word, ...], shell: ShellState, *, bare: bool) -> None:
    plain = len(words) == 1 or (
        len(words) == 2 and words[1].known and _STATUS.fullmatch(words[1].text) is not None
    )
    if bare and plain:
        shell.end()


def _leave(words: tuple[Word, ...], shell: ShellState, *, bare: bool) -> None:
    # Where control goes, and whether it goes anywhere, depends on the enclosing constructs.
    shell.findings.jumps += 1


def _cd(words: tuple[Word, ...], shell: ShellState, *, bare: bool) -> None:
    shell.move(cd_target(words))


def _pushd(words: tuple[Word, ...], shell: ShellState, *, bare: bool) -> None:
    shell.push(cd_target(words) if len(words) > 1 else None)


def _popd(words: tuple[Word, ...], shell: ShellState, *, bare: bool) -> None:
    if len(words) == 1:
        shell.pop()
    else:
        shell.lose_folder()


MOVING = frozenset({"cd", "pushd", "popd"})
LEAVING = frozenset({"exit", "return", "break", "continue"})
CONTROL_FLOW: dict[str, Follow] = {
    "cd": _cd,
    "pushd": _pushd,
    "popd": _popd,
    "exit": _exit,
    "return": _leave,
    "break": _leave,
    "continue": _leave,
}
