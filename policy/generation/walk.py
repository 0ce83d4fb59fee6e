"""Finds the files of a policy in its folder, and where each really is.

One listing of each folder says most of it. Every further question to the system is a moment in
which threads that decide calls take the interpreter, so none is asked that the listing answers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from policy.diagnostics import Diagnostic
from policy.generation import file_problems

SETTINGS_FILE = "placet.toml"
POLICY_SUFFIX = ".policy"
DATA_SUFFIXES = (".toml", ".json")

MOST_FILES = 10_000
MOST_ENTRIES = 100_000  # whatever they are called: a folder is no place for a source tree
LARGEST_FOLDER = 100_000_000  # bytes, all files together
DEEPEST = 32  # folders

# What a single policy file may use of the folder it stands in.
BESIDE_A_FILE = ("packs", "data", "programs")


class Found(NamedTuple):
    """A file that matters: its name in the folder, and its path as spelled.

    `real` is the path with links resolved, where it was listed as a regular file; None where the
    name may be a link, or anything else.
    """

    name: str
    path: str
    real: str | None = None


class Walk:
    """One walk through the folder: what matters there, and what went wrong on the way."""

    def __init__(self, place: str) -> None:
        self.unread: dict[str, Diagnostic] = {}
        self.only: str | None = None
        self.root = place
        # The folders that links lead to.
        self.linked: list[str] = []
        self._entries = 0
        if os.path.isfile(place) or (place.endswith(POLICY_SUFFIX) and not os.path.isdir(place)):
            self.root, self.only = os.path.split(place)
            if not self.only.endswith(POLICY_SUFFIX) or self.only == POLICY_SUFFIX:
                self.unread[""] = file_problems.not_a_policy(place)
        self.real_root = os.path.realpath(self.root)

    def files(self) -> Iterator[Found]:
        """Yield every file that matters, whether readable or not."""
        if self.unread:
            return
        if self.only is not None:
            yield from self._around_a_file(self.only)
            return
        if not os.path.isdir(self.root):
            self.unread[""] = file_problems.no_folder(self.root)
            return
        yield from self._below("", (self.real_root,))

    def holds(self, real: str) -> bool:
        """Tell whether a resolved path lies below the resolved folder."""
        return real == self.real_root or real.startswith(self.real_root.rstrip("/") + "/")

    def _around_a_file(self, only: str) -> Iterator[Found]:
        yield Found(only, os.path.join(self.root, only))
        if os.path.lexists(os.path.join(self.root, SETTINGS_FILE)):
            for entry in self._list(""):
                if _is_data(entry.name) and not os.path.isdir(entry.path):
                    yield Found(entry.name, entry.path)
        else:
            yield from self._misspelt_settings()
        for folder in BESIDE_A_FILE:
            path = os.path.join(self.root, folder)
            if os.path.isdir(path):
                real = os.path.realpath(path)
                if self.holds(real):
                    self.linked += (path, real) if os.path.islink(path) else ()
                    yield from self._below(folder + "/", (self.real_root, real))

    def _misspelt_settings(self) -> Iterator[Found]:
        """Yield the configuration that would count but for the letter case of its name.

        The file may stand in a folder of anything, so nothing else of a listing counts.
        """
        with suppress(OSError), os.scandir(self.root) as entries:
            for entry in entries:
                if entry.name.lower() == SETTINGS_FILE:
                    yield Found(entry.name, entry.path)

    def _below(self, prefix: str, above: tuple[str, ...]) -> Iterator[Found]:
        for entry in self._list(prefix):
            name = prefix + entry.name
            listed = None if entry.is_symlink() else os.path.join(above[-1], entry.name)
            if _is_folder(entry):
                yield from self._folder(name, entry.path, listed, above=above)
            elif _matters(name):
                regular = listed is not None and entry.is_file()
                yield Found(name, entry.path, listed if regular else None)

    def _folder(
        self, name: str, path: str, listed: str | None, *, above: tuple[str, ...]
    ) -> Iterator[Found]:
        real = listed or os.path.realpath(path)
        if not self.holds(real):
            self.unread[name] = file_problems.outside_folder(name)
        elif real in above:
            self.unread[name] = file_problems.link_cycle(name)
        elif len(above) > DEEPEST:
            self.unread[name] = file_problems.too_deep(name, DEEPEST)
        else:
            if listed is None:
                self.linked += (path, real)
            yield from self._below(name + "/", (*above, real))

    def _list(self, prefix: str) -> list[os.DirEntry[str]]:
        folder = os.path.join(self.root, prefix) if prefix else self.root
        try:
            with os.scandir(folder) as found:
                entries = [entry for entry in found if not entry.name.startswith(".")]
        except OSError as problem:
            self.unread[prefix] = file_problems.unreadable(prefix or ".", problem)
            return []
        self._entries += len(entries)
        if self._entries > MOST_ENTRIES:
            self.unread[""] = file_problems.beyond_limit(prefix, MOST_FILES, size=LARGEST_FOLDER)
            return []
        return sorted(entries, key=_name_of)


def _name_of(entry: os.DirEntry[str]) -> str:
    return entry.name


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry is a folder or leads to one; what cannot be looked at is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_misspelt(name: str) -> bool:
    """Tell whether a name is that of a policy or of the configuration but for its letter case.

    Such a file is meant to count, and who wrote it would not notice that it does not.
    """
    small = name.lower()
    if small == SETTINGS_FILE:
        return name != SETTINGS_FILE
    return small.endswith(POLICY_SUFFIX) and not name.endswith(POLICY_SUFFIX)


def _matters(name: str) -> bool:
    return name.endswith(POLICY_SUFFIX) or _is_data(name) or is_misspelt(name)


def _is_data(name: str) -> bool:
    return name.endswith(DATA_SUFFIXES)
