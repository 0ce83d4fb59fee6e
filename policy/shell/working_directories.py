"""The working directories that a shell may be in, after `cd`, `pushd` and `popd`.

A shell stands in one of several places: what `cd` is told may not be there, and then it stays. No
place at all means that this is never reached. Of too many places none is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from policy.shell.word import Word

Folders: TypeAlias = tuple[str, ...] | None

# Every command is looked at in each of them.
_MOST = 4
_MOST_PUSHED = 16


@dataclass(frozen=True, slots=True)
class WorkingDirectory:
    """A folder, as the operands of the `cd`s on the way to it, and those that `popd` goes to.

    None: it is not known which.
    """

    folders: Folders = ()
    pushed: tuple[Folders, ...] | None = ()


Places: TypeAlias = tuple[WorkingDirectory, ...]

START: Places = (WorkingDirectory(),)
UNKNOWN: Places = (WorkingDirectory(None, None),)
NOWHERE: Places = ()


def either_directory(one: Places, other: Places) -> Places:
    """Return where a shell may stand that stands in one or in the other."""
    if one == other:
        return one
    together = tuple(dict.fromkeys((*one, *other)))
    if len(together) < 2:
        return together
    if len(together) > _MOST or any(place.folders is None for place in together):
        return UNKNOWN
    return together


def after_change(places: Places, target: Word | None) -> Places:
    """Return where `cd` leads that works; `target` is None where that is not known."""
    return _all(
        [WorkingDirectory(directories_after(each.folders, target), each.pushed) for each in places]
    )


def after_pushd(places: Places, target: Word | None) -> Places:
    """Return where `pushd` leads that works."""
    return _all([_pushed(each, target) for each in places])


def _pushed(place: WorkingDirectory, target: Word | None) -> WorkingDirectory:
    stack = place.pushed
    if target is None or stack is None or len(stack) == _MOST_PUSHED:
        # `pushd +1` and the like turn the stack round.
        return WorkingDirectory(None, None)
    return WorkingDirectory(directories_after(place.folders, target), (place.folders, *stack))


def after_popd(places: Places) -> Places:
    """Return where `popd` leads that works: it does not where nothing was pushed before."""
    found = NOWHERE
    for each in places:
        if each.pushed is None:
            return UNKNOWN
        if each.pushed:
            found = either_directory(found, (WorkingDirectory(each.pushed[0], each.pushed[1:]),))
    return found


def possible_directories(places: Places) -> tuple[Folders, ...]:
    """Return the folders that a command may run in; one that is never reached, in any."""
    return tuple(dict.fromkeys(each.folders for each in places)) or (None,)


def directories_after(folders: Folders, target: Word | None) -> Folders:
    """Return the folders after a `cd` that worked; None where they are not known."""
    if target is None or not target.known:
        return None
    text = target.file_name
    if text.startswith(("/", "~")):
        return (text,)
    return None if folders is None else (*folders, text)


def _all(found: list[WorkingDirectory]) -> Places:
    places = NOWHERE
    for each in found:
        places = either_directory(places, (each,))
    return places
