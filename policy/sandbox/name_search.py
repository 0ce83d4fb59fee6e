"""Finds the files and folders that rules name by wildcards, so that a sandbox can hide them.

The disk is walked before a program starts. Links are not followed, and what is made afterwards is
not found.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from policy.environment import LetterCase
from policy.model import ResourceSet
from policy.sandbox.containment import is_within
from policy.values import (
    PathContext,
    Unreadable,
    compile_name_glob,
    fixed_part,
    literal_text,
    path_in_resources,
    path_segments,
    plain_paths,
    read_path,
    without_invisible,
)

_MOST_SECONDS = 20.0


class NotSearched(Exception):
    """There is too much to look through; the text says how much, `remedy` what people can do."""

    def __init__(
        self,
        text: str,
        remedy: str = "raise `[sandbox] search`, name fewer folders, or remove files",
    ) -> None:
        super().__init__(text)
        self.remedy = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPath:
    """A file or folder that a set names, without links; a folder stands for all that is in it.

    `link` is what is named, where that leads to it over a symbolic link.
    """

    path: str
    link: str | None = None


class NameSearch:
    """A search in some folders or files for all that some sets name by wildcards.

    In the folders of `if_named`, only what an item names by a path in them is looked for.
    """

    def __init__(
        self,
        sets: Iterable[ResourceSet],
        folders: Sequence[str],
        *,
        if_named: Sequence[str] = (),
    ) -> None:
        self._sets = [each for each in sets if any(_searched_globs(each))]
        self._folders = folders
        self._if_named = if_named
        globs = [glob for each in self._sets for glob in _searched_globs(each)]
        self._context = PathContext(resolve=os.path.realpath, folds=LetterCase().folds)
        self.may_be_named = _name_test("".join(_segments(glob)[-1:]) for glob in globs)
        self.found: list[NamedPath] = []

    def places(self) -> Iterator[str]:
        """Yield the parts of the folders that may hold what is named."""
        for glob in (glob for each in self._sets for glob in _searched_globs(each)):
            head = os.path.realpath(fixed_part(glob)[0]) if glob.startswith("/") else "/"
            for folder in self._folders:
                if is_within(head, (folder,)):
                    yield head
                elif is_within(folder, (head,)):
                    yield folder
            if is_within(head, self._if_named):
                yield head

    def finds(self, path: str) -> bool:
        """Return whether a set names a path, or may do so; what it leads to is found then."""
        is_named = any(self._covers(each, path) for each in self._sets)
        if is_named:
            real = os.path.realpath(path)
            self.found.append(NamedPath(path=real, link=None if real == path else path))
        return is_named

    def names_below(self, folder: str) -> bool:
        """Return whether sets may name what is in a folder, which itself is an exception."""
        return any(
            _has_exceptions(each) and self._covers(_without_exceptions(each), folder)
            for each in self._sets
        )

    def _covers(self, resources: ResourceSet, path: str) -> bool:
        read = read_path(path, self._context)
        if isinstance(read, Unreadable):
            return True
        return path_in_resources(read, resources, context=self._context) is not False


def _name_test(globs: Iterable[str]) -> Callable[[str], bool]:
    """Return the test of whether one of some globs may match a name, in any of its spellings.

    Most globs are a name, its start or its end, and a walk asks of very many names.
    """
    names: set[str] = set()
    starts: list[str] = []
    ends: list[str] = []
    others: list[Callable[[str], bool]] = []
    for glob in map(str.casefold, globs):
        name, start, end = map(literal_text, (glob, glob[:-1], glob[1:]))
        if name is not None:
            names.add(name)
        elif glob.startswith("*") and end is not None:
            ends.append(end)
        elif glob.endswith("*") and start is not None:
            starts.append(start)
        else:
            others.append(compile_name_glob(glob))
    prefixes, suffixes = tuple(starts), tuple(ends)

    def may_match(name: str) -> bool:
        folded = without_invisible(name).casefold()
        return (
            folded in names
            or folded.startswith(prefixes)
            or folded.endswith(suffixes)
            or any(test(folded) for test in others)
        )

    return may_match


def _searched_globs(resources: ResourceSet) -> Iterator[str]:
    """Yield the items of a set that name something by wildcards, beyond whole folders."""
    for item in resources.included:
        if isinstance(item, ResourceSet):
            yield from _searched_globs(item)
        elif plain_paths(ResourceSet(included=(item,))) is None:
            yield item


def _has_exceptions(resources: ResourceSet) -> bool:
    inner = (item for item in resources.included if isinstance(item, ResourceSet))
    return bool(resources.excluded) or any(map(_has_exceptions, inner))


def _without_exceptions(resources: ResourceSet) -> ResourceSet:
    return ResourceSet(
        included=tuple(
            _without_exceptions(item) if isinstance(item, ResourceSet) else item
            for item in resources.included
        )
    )


def _segments(glob: str) -> tuple[str, ...]:
    """Return the segments of a glob, without the end that stands for all that is in a folder."""
    segments = path_segments(glob)
    while segments[-1:] == ("**",):
        segments = segments[:-1]
    return segments


def outermost(places: Iterable[str]) -> Iterator[str]:
    """Yield the places that are in no other one, each once."""
    last = None
    # A folder comes before what is in it: `/` sorts before what names have.
    for place in sorted(set(places), key=path_segments):
        if last is None or not is_within(place, (last,)):
            yield place
            last = place


# The searches that look into a folder, and whether everything in it is a candidate for them,
# whatever its name.
_Looking: TypeAlias = tuple[tuple[NameSearch, bool], ...]


def search_all(searches: Sequence[NameSearch], *, most: int, private: Collection[str] = ()) -> None:
    """Find what is named, for all searches in one walk; raise NotSearched.

    `most` is how many files and folders are looked at. What a search has found, it does not look
    into. A folder that cannot be listed counts as found: a program may be able to change that. Into
    a `private` folder it looks only where a folder that is searched is in it.
    """
    walk = _Walk(most)
    pending: list[tuple[str, _Looking]] = []
    places = {place for each in searches for place in each.places()}
    inside = {place for place in places if is_within(place, private)}
    for place in (*outermost(places - inside), *outermost(inside)):
        below = tuple((each, each.names_below(place)) for each in searches if not each.finds(place))
        if below and os.path.isdir(place):
            pending.append((place, below))
    while pending:
        folder, looking = pending.pop()
        entries = walk.entries(folder)
        if entries is None:
            for each, _ in looking:
                each.found.append(NamedPath(path=folder))
            continue
        for entry in entries:
            below = looking
            for each, all_of_it in looking:
                if all_of_it or each.may_be_named(entry.name):
                    below = tuple(_not_found(entry, looking))
                    break
            if below and entry.is_dir(follow_symlinks=False) and entry.path not in private:
                pending.append((entry.path, below))


def _not_found(entry: os.DirEntry[str], looking: _Looking) -> Iterator[tuple[NameSearch, bool]]:
    """Yield the searches that do not find an entry, and so look into it."""
    for each, all_of_it in looking:
        if not all_of_it and not each.may_be_named(entry.name):
            yield each, False
        elif not each.finds(entry.path):
            yield each, all_of_it or each.names_below(entry.path)


class _Walk:
    """Lists folders, as long as there are not too many entries in all of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen = 0
        self._until = time.monotonic() + _MOST_SECONDS

    def entries(self, folder: str) -> list[os.DirEntry[str]] | None:
        """Return what is in a folder, nothing if it is gone; None if it cannot be listed."""
        if time.monotonic() > self._until:
            raise NotSearched(
                f"looking takes more than {_MOST_SECONDS:.0f} seconds",
                "name fewer folders, or remove files",
            )
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._seen += 1
                    if self._seen > self._most:
                        raise NotSearched(f"there are more than {self._most:,} files and folders")
                    found.append(entry)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise NotSearched(
                    "the path of a folder is too long", "remove or rename the folder"
                ) from error
            return None
        return found
