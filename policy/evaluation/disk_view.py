"""What the disk holds in a tree or wildcard of a call, and where its links lead.

A wildcard means the names that it matches on disk, and a tree means everything below it. Without a
view of the disk both are judged as written. If links can be followed but folders cannot be listed,
the result is unknown.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from policy.model import DiskQuery, Exclusions
from policy.programs import NewNames, matches_path_glob
from policy.shell import Word
from policy.values import (
    ContentsBelow,
    Path,
    PathContext,
    Unreadable,
    exact_path,
    quote,
    read_path,
    spelled_path,
)

# Files that the call itself creates, as written and as resolved.
Made: TypeAlias = Callable[[], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobMeaning:
    """Which files below a folder are meant: those that a shell's glob matches, or all.

    `tree`: with everything below the named files; `follow_links`: through links below as well.
    `listed`: only names are read, so that existing files do not match floating patterns.
    `new_names` and `sources`: which files of a written tree are new, and which are rewritten, as in
    `CommandEffect`. `kept_links`: globs of paths below at which a link is not written through.
    """

    steps: tuple[str, ...] = ()
    tree: bool = False
    follow_links: bool = False
    listed: bool = False
    lenient: bool = False
    exclusions: Exclusions | None = None
    new_names: NewNames = "own"
    sources: tuple[str, ...] = ()
    kept_links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskView:
    """The files below a path, for floating patterns, and other files reached through links."""

    contents: ContentsBelow | None = None
    others: tuple[Path | Unreadable, ...] = ()


NOTHING_SEEN = DiskView()


def _nothing() -> tuple[tuple[str, str], ...]:
    return ()


def disk_view_of(
    text: str,
    meant: GlobMeaning,
    paths: PathContext,
    *,
    written: bool = False,
    made: Made = _nothing,
) -> DiskView:
    """Return the disk's contents of the glob or tree below the folder `text`.

    Only links are looked up now; the files below, when a set needs them.
    """
    if not (meant.steps or meant.tree) or (paths.look is None and paths.links_below is None):
        return NOTHING_SEEN
    place, spelled = exact_path(text, paths), spelled_path(text, paths)
    if isinstance(place, Unreadable) or isinstance(spelled, Unreadable):
        return NOTHING_SEEN  # the path itself covers this
    query = DiskQuery(
        place=place,
        spelled=spelled,
        steps=meant.steps,
        tree=meant.tree,
        follow_links=meant.follow_links,
        lenient=meant.lenient,
        hard_links=written and bool(meant.steps),
        exclusions=meant.exclusions,
    )
    if paths.look is None:
        return DiskView(others=tuple(_made_below(query, meant, paths)))
    contents = ContentsBelow(query, paths.look, made)
    others = tuple(_others(contents, meant, paths)) if meant.steps or meant.follow_links else ()
    return DiskView(contents=None if meant.listed else contents, others=others)


def _others(
    contents: ContentsBelow, meant: GlobMeaning, paths: PathContext
) -> Iterator[Path | Unreadable]:
    query, seen = contents.asked, contents.seen
    yield from _made_below(query, meant, paths)
    if seen is None or not seen.complete:
        yield Unreadable(
            reason=f"there are more files below {quote(query.spelled)} than were looked at"
        )
    if seen is None:
        return
    for led in seen.linked_paths:
        if meant.kept_links and _is_kept(led, query.spelled, meant.kept_links):
            continue
        path = read_path(led, paths)
        if isinstance(path, Path) and meant.tree:
            path = replace(path, tree=True)
        yield path
    for shared in seen.shared:
        name = quote(shared)
        yield Unreadable(reason=f"a file with several names (hard links): {name}")


def _is_kept(link: str, folder: str, globs: tuple[str, ...]) -> bool:
    segments = posixpath.relpath(link, folder).split("/")
    return any(matches_path_glob(segments, glob.split("/")) for glob in globs)


def _made_below(query: DiskQuery, meant: GlobMeaning, paths: PathContext) -> Iterator[Unreadable]:
    """Yield an unknown path if links that do not exist yet may be on the way."""
    if not (meant.steps or meant.follow_links) or paths.links_below is None:
        return
    if paths.links_below(query.place):
        reason = f"an earlier command may have created a link below {quote(query.spelled)}"
        yield Unreadable(reason=reason)


def glob_of(word: Word) -> tuple[str, tuple[str, ...]]:
    """Return the folder that a glob searches, as written, and the segments below it."""
    text = word.text
    place = cut = 0
    while place < len(text) and text[place] not in "*?[":
        if text[place] == "/":
            cut = place + 1
        place += 2 if text[place] == "\\" else 1
    base = Word(_plain(text[:cut]), home=word.home and cut > 0)
    steps = tuple(step for step in text[cut:].split("/") if step)
    return base.file_name or ".", steps


def _plain(text: str) -> str:
    pieces: list[str] = []
    place = 0
    while place < len(text):
        place += text[place] == "\\" and place + 1 < len(text)
        pieces.append(text[place])
        place += 1
    return "".join(pieces)
