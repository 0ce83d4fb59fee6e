"""The floor: files that no rule may let a call write, because they are the policy itself.

It covers what a generation read, what the next one would read or fail at, and the names of all
folders above: renaming or deleting `/srv` moves `/srv/rules` away as surely as writing there.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Absolute paths, as spelled and with links resolved.

    `files` are closed by their names, there or not, and those of `any_case` however their last
    name is spelled in capitals and small letters. `folders` are closed with all below them. One
    that holds the workspace cannot be, or nothing could be written; there a file is closed that
    ends in `policy_ending`, in any letter case, or in one of `data_endings`, unless a name below
    the folder begins with a dot. Of a folder in `data_folders` the files right in it are closed
    that end in one of `data_endings`.
    """

    files: tuple[str, ...] = ()
    any_case: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    data_folders: tuple[str, ...] = ()
    policy_ending: str = ".policy"
    data_endings: tuple[str, ...] = (".toml", ".json")

    @property
    def is_empty(self) -> bool:
        """Whether nothing is closed."""
        return not (self.files or self.any_case or self.folders or self.data_folders)

    def names(self) -> frozenset[str]:
        """Return all that is closed by its name, and the folders above it."""
        found: set[str] = set()
        for path in (*self.files, *self.any_case, *self.folders):
            while path not in found:
                found.add(path)
                path = posixpath.dirname(path)
        return frozenset(found)
