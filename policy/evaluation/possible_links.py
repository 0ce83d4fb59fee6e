"""Paths that may be links once a command has run, and the written paths that they are at."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import NamedTuple

from policy.evaluation.accesses import searched_folder
from policy.programs import CommandEffect, matches_path_glob
from policy.shell import SimpleCommand
from policy.values import PathContext, Unreadable, normalise, read_path

# Above this number at one path, or copied along, they count as unknown.
MOST = 16
NOT_KNOWN: tuple[str, ...] = ()
# An arbitrary name.
ANY_NAME = ("*",)
ANY_DEPTH = "**"


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleLink:
    """A possible link at a path or below it, since the command `since` of the script.

    With `sources`, absolute paths, it is a link only if one of these is, on disk. `at`: the path
    itself may be a link too. `again`: the command may run again and meet its own link. With
    `names`, globs of paths below, only these are links. `place` is the path as an absolute one.
    `spares_git`: git makes it, which takes nothing called `.git` out of its store.
    """

    by: SimpleCommand
    since: int
    at: bool
    again: bool
    sources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    place: str = ""
    spares_git: bool = False


def path_key(path: str) -> str:
    """Return the form in which paths are compared: letters that a disk may treat as equal are."""
    return normalise(path).casefold()


def is_named(globs: tuple[str, ...], rest: tuple[str, ...]) -> bool:
    """Return whether some path on the way below a folder is one that globs name."""
    if not globs or rest is ANY_NAME:
        return True
    names = tuple(map(path_key, rest))
    return any(
        matches_path_glob(names[:end], path_key(glob).split("/"))
        for end in range(1, len(names) + 1)
        for glob in globs
    )


def is_spared(making: PossibleLink, rest: tuple[str, ...]) -> bool:
    """Return whether the rest of a path begins with a `.git` that is surely no link."""
    return making.spares_git and bool(rest) and path_key(rest[0]) == ".git"


def kept(known: list[PossibleLink], new: PossibleLink) -> list[PossibleLink]:
    """Add to the possible links of one path; above a limit they count as unknown."""
    if len(known) < MOST:
        return [*known, new]
    unknown = replace(
        new, since=0, at=True, again=True, sources=NOT_KNOWN, names=NOT_KNOWN, spares_git=False
    )
    return [*known[:-1], unknown]


class WrittenPath(NamedTuple):
    """A written path as spelled, with its links followed, and with those of its folder followed."""

    spelled: str
    target: str
    itself: str


def written_path(place: CommandEffect, paths: PathContext) -> WrittenPath | None:
    """Return a written path by each way to it; None: any path."""
    word = place.word
    if word is None or word.shape == "opaque":
        return None
    text = word.file_name if word.known else searched_folder(word)[0]
    path = read_path(text, paths)
    if isinstance(path, Unreadable):
        return None
    itself = path.lexical
    folder = read_path(posixpath.dirname(path.lexical), paths)
    if not isinstance(folder, Unreadable) and folder.resolved:
        itself = posixpath.join(folder.resolved, posixpath.basename(path.lexical))
    return WrittenPath(path.lexical, path.resolved or path.lexical, itself)


def holds_folder(names: frozenset[str], here: PathContext) -> bool:
    """Return whether a path is the command's folder or one above, which no link can replace."""
    folder = read_path(".", here)
    if isinstance(folder, Unreadable):
        return False
    own = {path_key(folder.lexical), path_key(folder.resolved or folder.lexical)}
    return any(each == name or each.startswith(f"{name}/") for each in own for name in names)
