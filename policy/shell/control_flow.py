"""Commands that change the folder, leave part of a script, or call its functions."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Protocol

from policy.shell.shell_state import ShellState
from policy.shell.word import Word

# What `exit` surely takes: with two words it does not end the shell.
_STATUS = re.compile(r"[0-9]{1,3}")


class Follow(Protocol):
    """Follows a command. `bare`: nothing is redirected or assigned that may fail before it runs."""

    def __call__(self, words: tuple[Word, ...], shell: ShellState, *, bare: bool) -> None:
        """Note what the command changes about the shell."""


def follow_function_call(name: str, shell: ShellState, *, bare: bool) -> None:
    """Follow what a function does that the script defines."""
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
    """Follow `set -e`, as far as it surely runs, and what takes it back, wherever it stands."""
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
    """Return where a plain `cd` goes; None for any other."""
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
    # Where it leads, and whether it leads anywhere, depends on what is around.
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
GOING: dict[str, Follow] = {
    "cd": _cd,
    "pushd": _pushd,
    "popd": _popd,
    "exit": _exit,
    "return": _leave,
    "break": _leave,
    "continue": _leave,
}
