"""Bounded look-ups on this machine's disk: matches of wildcards, contents of trees, link targets.

All look-ups of a call share one bound, so that no call costs more than that. The answer to each
query is cached.
"""

from __future__ import annotations

import os
import stat
import time
from collections import defaultdict
from collections.abc import Callable
from typing import TypeAlias

from policy.environment.ignore_files import IgnoreFiles
from policy.model import DiskAnswer, DiskQuery, FolderContents
from policy.values import ANY_DEPTH, compile_step, is_excluded, normal_path, normalise, step_text

# The number of names that one call may examine, and the time for it where the disk is slow.
MOST_NAMES = 50_000
MOST_SECONDS = 1.0
# The number of paths by links that are judged one by one.
_MOST_LED = 1_000
_DEEPEST = 128

Follow: TypeAlias = Callable[[str], str | None]


class DiskLookups:
    """The look-ups of one call; `follow` resolves links."""

    __slots__ = ("_answers", "_follow", "_remaining", "_since")

    def __init__(self, follow: Follow, *, most: int = MOST_NAMES) -> None:
        self._follow = follow
        self._remaining = most
        self._since: float | None = None
        self._answers: dict[DiskQuery, DiskAnswer] = {}

    def look_up(self, query: DiskQuery) -> DiskAnswer:
        """Return the answer to a query, as far as the bound allows."""
        found = self.cached(query)
        if found is None:
            if self._since is None:
                self._since = time.monotonic()
            walk = _Walk(
                query, self._follow, remaining=self._remaining, until=self._since + MOST_SECONDS
            )
            found = self._answers[query] = walk.seen()
            self._remaining = walk.remaining
        return found

    def look_up_briefly(self, query: DiskQuery, *, most: int) -> DiskAnswer | None:
        """Return the answer if few names have to be examined; None if it takes a longer look-up."""
        found = self.cached(query)
        if found is None:
            most = min(most, self._remaining)
            walk = _Walk(query, self._follow, remaining=most, until=time.monotonic() + MOST_SECONDS)
            seen = walk.seen()
            if not seen.complete and walk.remaining <= 0:
                return None
            self._remaining -= most - walk.remaining
            found = self._answers[query] = seen
        return found

    def cached(self, query: DiskQuery) -> DiskAnswer | None:
        """Return the cached answer to a query."""
        return self._answers.get(query)


class _TooMuch(Exception):
    """The bound is reached."""


# A folder: the path that led to it, its resolved path, and whether a link or `..` was on the way.
_Place: TypeAlias = tuple[str, str, bool]


class _Walk:
    """One look-up: the steps of a glob first, then everything below the matches."""

    def __init__(self, query: DiskQuery, follow: Follow, *, remaining: int, until: float) -> None:
        self.remaining = remaining
        self._query = query
        self._follow = follow
        self._until = until
        self._contents: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._led: dict[str, None] = {}
        self._shared: dict[str, None] = {}
        self._walked: set[str] = set()
        self._listed: dict[str, list[os.DirEntry[str]]] = {}
        self._expanded: set[tuple[str, bool, tuple[str, ...]]] = set()
        self._whole = True
        self._ignoring = IgnoreFiles()
        self._searches = bool(query.steps) and query.steps[0] == ANY_DEPTH
        self._root: tuple[str, str] = ("", "")

    def seen(self) -> DiskAnswer:
        query = self._query
        real = query.place
        self._root = (_lexical(query.spelled), real)
        try:
            if query.steps:
                self._expand((query.spelled, real, False), query.steps, depth=0)
            else:
                self._below(query.spelled, real)
        except _TooMuch:
            self._whole = False
        held = tuple(
            FolderContents(lexical=lexical, resolved=resolved, names=names)
            for (lexical, resolved), names in self._contents.items()
        )
        return DiskAnswer(
            contents=held,
            linked_paths=tuple(self._led),
            shared=tuple(self._shared),
            complete=self._whole,
        )

    # -------------------------------------------------------------- globs

    def _expand(self, place: _Place, steps: tuple[str, ...], *, depth: int) -> None:
        walked, real, off = place
        if not steps:
            self._named(place)
            return
        if depth > _DEEPEST:
            raise _TooMuch
        key = (walked if off else real, off, steps)
        if key in self._expanded:
            return
        self._expanded.add(key)
        step, rest = steps[0], steps[1:]
        if step == ANY_DEPTH or step == "**":
            self._expand_any_depth(place, steps, depth=depth)
            if step == ANY_DEPTH:
                return
            if not rest:
                # Everything below as well, each entry by its name.
                self._expand(place, (ANY_DEPTH, "*"), depth=depth + 1)
        text = step_text(step)
        if text is not None:
            self._take(1)
            self._go(place, text, rest, depth=depth)
            return
        matches = compile_step(step, loose=self._query.lenient)
        for entry in self._entries(real):
            if matches(entry.name) and not (self._searches and self._is_excluded(entry, real)):
                self._enter(place, entry, rest, depth=depth)
        for dots in (".", ".."):
            # Some shells match these with `.*` too.
            if step.startswith(".") and matches(dots):
                self._go(place, dots, rest, depth=depth)

    def _expand_any_depth(self, place: _Place, steps: tuple[str, ...], *, depth: int) -> None:
        walked, real, off = place
        self._expand(place, steps[1:] or ("*",), depth=depth + 1)
        for entry in self._entries(real):
            if entry.is_symlink():
                if self._query.follow_links and steps[0] == ANY_DEPTH:
                    self._enter(place, entry, steps, depth=depth)
            elif entry.is_dir(follow_symlinks=False):
                if self._searches and self._is_excluded(entry, real):
                    continue
                there = (_join(walked, entry.name), _join(real, entry.name), off)
                self._expand(there, steps, depth=depth + 1)

    def _go(self, place: _Place, name: str, rest: tuple[str, ...], *, depth: int) -> None:
        walked, real, off = place
        if name in ("", "."):
            self._expand(place, rest, depth=depth + 1)
            return
        there = _join(walked, name)
        if name == "..":
            self._expand((there, os.path.dirname(real), True), rest, depth=depth + 1)
            return
        straight = _join(real, name)
        if self._searches and not os.path.lexists(straight):
            return  # a search finds only existing files
        led = self._follow(straight)
        if led is None:
            self._led_off(there)
            return
        self._expand((there, led, off or led != straight), rest, depth=depth + 1)

    def _enter(
        self, place: _Place, entry: os.DirEntry[str], rest: tuple[str, ...], *, depth: int
    ) -> None:
        walked, real, off = place
        there, straight = _join(walked, entry.name), _join(real, entry.name)
        if entry.is_symlink():
            led = self._follow(straight)
            if led is None:
                self._led_off(there)
                return
            self._expand((there, led, True), rest, depth=depth + 1)
        elif not rest or entry.is_dir(follow_symlinks=False):
            self._expand((there, straight, off), rest, depth=depth + 1)

    def _named(self, place: _Place) -> None:
        walked, real, off = place
        if off:
            self._led_off(walked)
        else:
            self._hold(self._root, walked, folders=True)
        if self._query.hard_links and not self._query.tree and _is_shared(real):
            self._shared[walked] = None
        if self._query.tree:
            self._below(walked, real)

    # -------------------------------------------------------------- trees

    def _below(self, walked: str, real: str) -> None:
        """Record everything below a folder and, where links are followed, below their targets."""
        pending = [(walked, real)]
        root = self._root
        if not _is_below(_lexical(walked), root[0]) or not _is_below(real, root[1]):
            root = (_lexical(walked), real)
        while pending:
            walked, real = pending.pop()
            if real in self._walked:
                continue
            self._walked.add(real)
            for entry in self._entries(real):
                if not self._searches and self._is_excluded(entry, real):
                    continue
                there = _join(walked, entry.name)
                self._hold(root, there)
                if not entry.is_symlink():
                    if entry.is_dir(follow_symlinks=False):
                        pending.append((there, _join(real, entry.name)))
                elif self._query.follow_links:
                    self._led_off(there)
                    led = self._follow(_join(real, entry.name))
                    if led is not None and os.path.isdir(led):
                        self._below(there, led)

    # -------------------------------------------------------------- what is kept

    def _hold(self, root: tuple[str, str], walked: str, *, folders: bool = False) -> None:
        """Record a path under its name, and under those of its folders if they are not recorded."""
        below = _lexical(walked)[len(root[0].rstrip("/")) + 1 :]
        names = self._contents.setdefault(root, defaultdict(list))
        *above, name = below.split("/")
        for each in {name, *above} if folders else (name,):
            names[each].append(below)

    def _led_off(self, walked: str) -> None:
        if len(self._led) >= _MOST_LED:
            raise _TooMuch
        self._led[walked] = None

    def _is_excluded(self, entry: os.DirEntry[str], folder: str) -> bool:
        """Return whether the query skips an entry of a folder."""
        exclusions = self._query.exclusions
        if exclusions is None or (self._query.follow_links and not exclusions.only_files):
            return False
        shown = self._ignoring.shown(folder) if exclusions.may_show_hidden else ()
        return is_excluded(
            exclusions, entry.name, folder=entry.is_dir(follow_symlinks=False), shown=shown
        )

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        known = self._listed.get(folder)
        if known is not None:
            return known
        self._take(1)
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._take(1)
                    found.append(entry)
        except (FileNotFoundError, NotADirectoryError):
            pass  # it does not exist, or is a file
        except (OSError, ValueError):
            self._whole = False
        self._listed[folder] = found
        return found

    def _take(self, count: int) -> None:
        self.remaining -= count
        if self.remaining <= 0 or (not self.remaining % 64 and time.monotonic() > self._until):
            raise _TooMuch


def _join(folder: str, name: str) -> str:
    return f"/{name}" if folder == "/" else f"{folder}/{name}"


def _lexical(walked: str) -> str:
    return normalise(normal_path(walked))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _is_shared(path: str) -> bool:
    try:
        state = os.lstat(path)
    except (OSError, ValueError):
        return False
    return state.st_nlink > 1 and stat.S_ISREG(state.st_mode)
