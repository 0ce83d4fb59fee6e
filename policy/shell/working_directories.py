"""The possible working directories of a shell, and how `cd`, `pushd` and `popd` change them.

There may be several: a `cd` may fail, and then the shell stays where it is. An empty set means that
the command is never reached. If there are too many, the directory is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from policy.shell.word import Word

Folders: TypeAlias = tuple[str, ...] | None

# Every command is analysed in each of them.
_MOST = 4
_MOST_PUSHED = 16


@dataclass(frozen=True, slots=True)
class WorkingDirectory:
    """A folder, as the operands of the `cd`s on the way to it, and the stack for `popd`.

    None: unknown.
    """

    folders: Folders = ()
    pushed: tuple[Folders, ...] | None = ()


Places: TypeAlias = tuple[WorkingDirectory, ...]

START: Places = (WorkingDirectory(),)
UNKNOWN: Places = (WorkingDirectory(None, None),)
NOWHERE: Places = ()


def either_directory(one: Places, other: Places) -> Places:
    """Return the union of two sets of directories."""
    if one == other:
        return one
    together = tuple(dict.fromkeys((*one, *other)))
    if len(together) < 2:
        return together
    if len(together) > _MOST or any(position.folders is None for position in together):
        return UNKNOWN
    return together


def after_change(positions: Places, target: Word | None) -> Places:
    """Return the directories after a successful `cd`; `target` is None where that is not known."""
    return _all(
        [
            WorkingDirectory(directories_after(each.folders, target), each.pushed)
            for each in positions
        ]
    )


def after_pushd(positions: Places, target: Word | None) -> Places:
    """Return the directories after a successful `pushd`."""
    return _all([_pushed(each, target) for each in positions])


def _pushed(position: WorkingDirectory, target: Word | None) -> WorkingDirectory:
    stack = position.pushed
    if target is None or stack is None or len(stack) == _MOST_PUSHED:
        # `pushd +1` and the like rotate the stack.
        return WorkingDirectory(None, None)
    return WorkingDirectory(directories_after(position.folders, target), (position.folders, *stack))


def after_popd(positions: Places) -> Places:
    """Return the directories after a successful `popd`, which needs an earlier `pushd`."""
    found = NOWHERE
    for each in positions:
        if each.pushed is None:
            return UNKNOWN
        if each.pushed:
            found = either_directory(found, (WorkingDirectory(each.pushed[0], each.pushed[1:]),))
    return found


def possible_directories(positions: Places) -> tuple[Folders, ...]:
    """Return the folders that a command may run in; any folder if it is never reached."""
    return tuple(dict.fromkeys(each.folders for each in positions)) or (None,)


def directories_after(folders: Folders, target: Word | None) -> Folders:
    """Return the folders after a successful `cd`; None where they are not known."""
    if target is None or not target.known:
        return None
    text = target.file_name
    if text.startswith(("/", "~")):
        return (text,)
    return None if folders is None else (*folders, text)


def _all(found: list[WorkingDirectory]) -> Places:
    positions = NOWHERE
    for each in found:
        positions = either_directory(positions, (each,))
    return positions
