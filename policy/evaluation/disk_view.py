"""What the disk holds in a tree or wildcard of a call, and where its links lead.

A wildcard means what the same names would mean if they were spelled, and a tree what is below it.
Where nothing of the disk is known, both are what their spelling says. Who follows links, but does
not look, cannot know what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from policy.model import DiskQuery, Exclusions
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

# Files that the call itself makes, as spelled and as resolved.
Made: TypeAlias = Callable[[], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobMeaning:
    """What is meant below a folder: the segments of a shell's glob, or all of it.

    `tree`: with all below what is named; `follows`: through links below as well. `listed`: names
    alone are read, so that what stands there is not held against a floating pattern. `left` is
    passed over.
    """

    steps: tuple[str, ...] = ()
    tree: bool = False
    follows: bool = False
    listed: bool = False
    loose: bool = False
    left: Exclusions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskView:
    """What stands below a path, for floating patterns, and what else is touched by its links."""

    held: ContentsBelow | None = None
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
    """Return what the disk says of what is meant below the folder `text`.

    Only what may lead elsewhere is looked at now; what stands below, when a set wants to know.
    """
    if not (meant.steps or meant.tree) or (paths.look is None and paths.links_below is None):
        return NOTHING_SEEN
    place, spelled = exact_path(text, paths), spelled_path(text, paths)
    if isinstance(place, Unreadable) or isinstance(spelled, Unreadable):
        return NOTHING_SEEN  # which the path itself says
    asked = DiskQuery(
        place=place,
        spelled=spelled,
        steps=meant.steps,
        tree=meant.tree,
        follows=meant.follows,
        loose=meant.loose,
        written=written and bool(meant.steps),
        left=meant.left,
    )
    if paths.look is None:
        return DiskView(others=tuple(_made_below(asked, meant, paths)))
    held = ContentsBelow(asked, paths.look, made)
    others = tuple(_others(held, meant, paths)) if meant.steps or meant.follows else ()
    return DiskView(held=None if meant.listed else held, others=others)


def _others(
    held: ContentsBelow, meant: GlobMeaning, paths: PathContext
) -> Iterator[Path | Unreadable]:
    asked, seen = held.asked, held.seen
    yield from _made_below(asked, meant, paths)
    if seen is None or not seen.whole:
        yield Unreadable(reason=f"more stands below {quote(asked.spelled)} than was looked at")
    if seen is None:
        return
    for led in seen.led:
        path = read_path(led, paths)
        if isinstance(path, Path) and meant.tree:
            path = replace(path, tree=True)
        yield path
    for shared in seen.shared:
        name = quote(shared)
        yield Unreadable(reason=f"a file that has other names too (hard links): {name}")


def _made_below(asked: DiskQuery, meant: GlobMeaning, paths: PathContext) -> Iterator[Unreadable]:
    """Say that links which are not on the disk yet may be on the way."""
    if not (meant.steps or meant.follows) or paths.links_below is None:
        return
    if paths.links_below(asked.place):
        reason = f"a command before may have made a link below {quote(asked.spelled)}"
        yield Unreadable(reason=reason)


def glob_of(word: Word) -> tuple[str, tuple[str, ...]]:
    """Return the folder that a glob looks in, as it is spelled, and its segments below that."""
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
