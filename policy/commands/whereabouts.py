"""A change of folder and the places where a shell may stand in; where it may stand after it out.

A shell stands in one of several places: what `cd` is told may not be there, and then it stays. No
place at all means that this is never reached. Of too many places none is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from policy.commands.word import Word

Folders: TypeAlias = tuple[str, ...] | None

# Every command is looked at in each of them.
_MOST = 4
_MOST_PUSHED = 16


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, as the operands of the `cd`s on the way to it, and those that `popd` goes to.

    None: it is not known which.
    """

    folders: Folders = ()
    pushed: tuple[Folders, ...] | None = ()


Places: TypeAlias = tuple[Place, ...]

START: Places = (Place(),)
UNKNOWN: Places = (Place(None, None),)
NOWHERE: Places = ()


def either(one: Places, other: Places) -> Places:
    """Return where a shell may stand that stands in one or in the other."""
    if one == other:
        return one
    together = tuple(dict.fromkeys((*one, *other)))
    if len(together) < 2:
        return together
    if len(together) > _MOST or any(place.folders is None for place in together):
        return UNKNOWN
    return together


def changed(places: Places, target: Word | None) -> Places:
    """Return where `cd` leads that works; `target` is None where that is not known."""
    return _all([Place(folders_after(each.folders, target), each.pushed) for each in places])


def pushed(places: Places, target: Word | None) -> Places:
    """Return where `pushd` leads that works."""
    return _all([_pushed(each, target) for each in places])


def _pushed(place: Place, target: Word | None) -> Place:
    stack = place.pushed
    if target is None or stack is None or len(stack) == _MOST_PUSHED:
        # `pushd +1` and the like turn the stack round.
        return Place(None, None)
    return Place(folders_after(place.folders, target), (place.folders, *stack))


def popped(places: Places) -> Places:
    """Return where `popd` leads that works: it does not where nothing was pushed before."""
    found = NOWHERE
    for each in places:
        if each.pushed is None:
            return UNKNOWN
        if each.pushed:
            found = either(found, (Place(each.pushed[0], each.pushed[1:]),))
    return found


def folders_of(places: Places) -> tuple[Folders, ...]:
    """Return the folders that a command may run in; one that is never reached, in any."""
    return tuple(dict.fromkeys(each.folders for each in places)) or (None,)


def folders_after(folders: Folders, target: Word | None) -> Folders:
    """Return the folders after a `cd` that worked; None where they are not known."""
    if target is None or not target.known:
        return None
    text = target.file_name
    if text.startswith(("/", "~")):
        return (text,)
    return None if folders is None else (*folders, text)


def _all(found: list[Place]) -> Places:
    places = NOWHERE
    for each in found:
        places = either(places, (each,))
    return places
