"""Words that stand for something only as long as the shell is in a certain state.

`"$PWD/src"` is below the folder in which the script starts until the folder changes, and the output
of a search is a list of paths unless the script says how it is split.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from policy.shell.script import SimpleCommand
from policy.shell.word import Word

Settle: TypeAlias = Callable[[SimpleCommand], SimpleCommand]


def without_places(command: SimpleCommand) -> SimpleCommand:
    """Return a command whose words below the folder of the start are unknown."""
    return _with_words(command, _without_place)


def without_output(command: SimpleCommand) -> SimpleCommand:
    """Return a command whose words that a search prints are unknown."""
    return _with_words(command, _without_output)


def _without_place(word: Word) -> Word:
    return word if word.below_start is None else replace(word, below_start=None)


def _without_output(word: Word) -> Word:
    return replace(word, printed="") if word.printed else word


def _with_words(command: SimpleCommand, change: Callable[[Word], Word]) -> SimpleCommand:
    words = tuple(map(change, command.words))
    given = tuple(replace(one, value=change(one.value)) for one in command.assignments)
    files = tuple(replace(one, target=change(one.target)) for one in command.redirections)
    if (words, given, files) == (command.words, command.assignments, command.redirections):
        return command
    return replace(command, words=words, assignments=given, redirections=files)
