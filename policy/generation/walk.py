"""Finds the files of a policy in its folder, and the path of each with links resolved.

The listing of each folder has most of this. Every other system call lets threads that decide calls
take over the interpreter, so none is made for something that the listing contains.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from policy.catalog import LOCK_FILE
from policy.diagnostics import Diagnostic
from policy.generation import file_problems

SETTINGS_FILE = "placet.toml"
POLICY_SUFFIX = ".policy"
DATA_SUFFIXES = (".toml", ".json")

MOST_FILES = 10_000
MOST_ENTRIES = 100_000  # of any name: a policy folder should not contain a source tree
LARGEST_FOLDER = 100_000_000  # bytes, all files together
DEEPEST = 32  # folders

# The folders beside a single policy file that it may use.
BESIDE_A_FILE = ("packs", "data", "programs")


class Found(NamedTuple):
    """A file of the policy: its name in the folder, and its path as spelled.

    `real` is the path with links resolved if it was listed as a regular file; None if it may be a
    link or of another type.
    """

    name: str
    path: str
    real: str | None = None


class Walk:
    """One walk through the folder: the files of the policy, and the problems found."""

    def __init__(self, place: str) -> None:
        self.unread: dict[str, Diagnostic] = {}
        self.only: str | None = None
        self.root = place
        # The folders that links lead to.
        self.linked: list[str] = []
        # Files of the folder that are not read, and the names of all files beside each.
        self.others: list[tuple[str, frozenset[str]]] = []
        self._entries = 0
        if os.path.isfile(place) or (place.endswith(POLICY_SUFFIX) and not os.path.isdir(place)):
            self.root, self.only = os.path.split(place)
            if not self.only.endswith(POLICY_SUFFIX) or self.only == POLICY_SUFFIX:
                self.unread[""] = file_problems.not_a_policy(place)
        self.real_root = os.path.realpath(self.root)

    def files(self) -> Iterator[Found]:
        """Yield every file of the policy, readable or not."""
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
        """Return whether a resolved path lies below the resolved folder."""
        return real == self.real_root or real.startswith(self.real_root.rstrip("/") + "/")

    def _around_a_file(self, only: str) -> Iterator[Found]:
        yield Found(only, os.path.join(self.root, only))
        if os.path.lexists(os.path.join(self.root, SETTINGS_FILE)):
            for entry in self._list(""):
                if _is_data(entry.name) and not os.path.isdir(entry.path):
                    yield Found(entry.name, entry.path)
        else:
            yield from self._settings_in_wrong_case()
        lock = os.path.join(self.root, LOCK_FILE)
        if os.path.lexists(lock):
            yield Found(LOCK_FILE, lock)
        for folder in BESIDE_A_FILE:
            path = os.path.join(self.root, folder)
            if os.path.isdir(path):
                real = os.path.realpath(path)
                if self.holds(real):
                    self.linked += (path, real) if os.path.islink(path) else ()
                    yield from self._below(folder + "/", (self.real_root, real))

    def _settings_in_wrong_case(self) -> Iterator[Found]:
        """Yield files that would be the configuration if the letter case of their name were right.

        The folder of a single policy file may contain anything else, which does not matter.
        """
        with suppress(OSError), os.scandir(self.root) as entries:
            for entry in entries:
                if entry.name.lower() == SETTINGS_FILE:
                    yield Found(entry.name, entry.path)

    def _below(self, prefix: str, above: tuple[str, ...]) -> Iterator[Found]:
        entries = self._list(prefix)
        beside = frozenset(entry.name for entry in entries)
        for entry in entries:
            name = prefix + entry.name
            listed = None if entry.is_symlink() else os.path.join(above[-1], entry.name)
            if _is_folder(entry):
                yield from self._folder(name, entry.path, listed, above=above)
            elif _is_of_policy(name) or name.lower() == LOCK_FILE:
                regular = listed is not None and entry.is_file()
                yield Found(name, entry.path, listed if regular else None)
                if _is_data(name):
                    self.others.append((name, beside))
            else:
                self.others.append((name, beside))

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
    """Return whether an entry is a folder or a link to one; False if that cannot be read."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def has_wrong_case(name: str) -> bool:
    """Return whether a name differs only in letter case from one that is read.

    Its author expects such a file to be read, and would not notice that it is not.
    """
    small = name.lower()
    if small in (SETTINGS_FILE, LOCK_FILE):
        return name != small
    return small.endswith(POLICY_SUFFIX) and not name.endswith(POLICY_SUFFIX)


def _is_of_policy(name: str) -> bool:
    return name.endswith(POLICY_SUFFIX) or _is_data(name) or has_wrong_case(name)


def _is_data(name: str) -> bool:
    return name.endswith(DATA_SUFFIXES)
