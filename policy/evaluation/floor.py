"""The floor: files that no rule may let a call write, because they are the policy itself.

It covers what a generation read, what the next one would read or fail at, and the names of all
folders above: renaming or deleting `/srv` moves `/srv/rules` away as surely as writing there.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProtectedFile:
    """A protected file that a call writes; with `why`, one that it may write.

    `of_agent`: it is a settings file of the agent, and none of the policy.
    """

    path: str
    why: str = ""
    of_agent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Absolute paths, as written and with links resolved.

    `settings` are files in the middle of a project that steer its agent: what names or replaces
    them is denied, and what may write them among other files asks.

    `files` are protected by name, whether they exist or not, and those in `any_case` in any letter
    case of their last segment. `folders` are protected with everything below them. A folder that
    contains the workspace cannot be, or nothing could be written; in it, a file is protected that
    ends in `policy_ending`, in any letter case, or in one of `data_endings`, unless a segment below
    the folder begins with a dot. Directly in a folder of `data_folders`, files that end in one of
    `data_endings` are protected.
    """

    files: tuple[str, ...] = ()
    any_case: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    data_folders: tuple[str, ...] = ()
    policy_ending: str = ".policy"
    data_endings: tuple[str, ...] = (".toml", ".json")

    @property
    def is_empty(self) -> bool:
        """Whether nothing is protected."""
        return not (
            self.files or self.any_case or self.folders or self.data_folders or self.settings
        )

    def names(self) -> frozenset[str]:
        """Return all paths protected by name, and the folders above them."""
        found: set[str] = set()
        for path in (*self.files, *self.any_case, *self.folders):
            while path not in found:
                found.add(path)
                path = posixpath.dirname(path)
        return frozenset(found)
