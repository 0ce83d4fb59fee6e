"""`trap`: how its commands may change the state of the shell."""

from __future__ import annotations

import re
from collections.abc import Callable

from policy.shell.shell_state import ShellState
from policy.shell.word import Word

_AT_THE_END = frozenset({"EXIT", "0"})
_PRINTING = frozenset({"-l", "-p", "-P", "-lp"})
_LEAVE_ALONE = frozenset({"", "-"})
# Commands that each consist of a program's name and plain words.
_WORD = r"""(?:[A-Za-z0-9_./*@%:,+=-]+|"?\$[A-Za-z_?][A-Za-z0-9_]*"?|2?>/dev/null|[12]?>&[12])"""
_COMMAND = rf"[ \t]*([A-Za-z][A-Za-z0-9_.-]*)(?:[ \t]+{_WORD})*+[ \t]*"
_CALM = re.compile(rf"{_COMMAND}(?:(?:;|&&|\|\||\n){_COMMAND})*+;?[ \t]*")
_FIRST = re.compile(rf"(?:^|;|&&|\|\||\n){_COMMAND}")
# Commands after which the shell that continues is unchanged.
_HARMLESS = frozenset({"exit", "echo", "true", "kill"})


_WRAPPING = frozenset({"command", "builtin"})


def sets_trap(words: tuple[Word, ...]) -> bool:
    """Return whether a command may set a trap, whose commands run in a later folder."""
    if not words or not words[0].known:
        return False
    return words[0].text == "trap" or (
        words[0].text in _WRAPPING and any(word.text == "trap" or not word.known for word in words)
    )


def set_trap(
    words: tuple[Word, ...],
    shell: ShellState,
    *,
    lose_all: Callable[[ShellState], None],
    is_followed: Callable[[str], bool],
) -> None:
    """Apply what the commands of a trap may do to the shell between any two others.

    They run in the folder of that moment, not in the one where the trap is set.
    """
    if len(words) == 1 or (words[1].known and words[1].text in _PRINTING):
        return
    given = words[2:] if words[1].known and words[1].text == "--" else words[1:]
    if not given:
        return
    handler, signals = given[0], given[1:]
    if handler.known and handler.text in _LEAVE_ALONE:
        return
    if signals and all(each.known and each.text in _AT_THE_END for each in signals):
        return
    if handler.known and _CALM.fullmatch(handler.text):
        programs = set(_FIRST.findall(handler.text))
        if not any(map(is_followed, programs - _HARMLESS)):
            shell.findings.handlers |= programs
            return
    lose_all(shell)
    shell.findings.gap("a trap whose commands may change the shell")
