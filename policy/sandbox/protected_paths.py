"""What a policy keeps from the code of every sandbox, whatever that is configured to touch."""

from __future__ import annotations

import os
from dataclasses import dataclass

from policy.evaluation import Floor
from policy.generation import Generation
from policy.sandbox.path_resolver import writable_folders


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedPaths:
    """The `files` that no program may write, and `private` folders: those with files of sessions.

    `writable` are all folders that code in some sandbox may write: no link in them is followed.
    """

    files: frozenset[str] = frozenset()
    private: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, generation: Generation, *, private: tuple[str, ...], home: str | None
    ) -> ProtectedPaths:
        """Return those of a policy, for a service whose commands have this home folder."""
        return cls(
            files=protected_paths(generation.floor),
            private=private,
            writable=writable_folders(generation.settings, home=home),
        )


def protected_paths(floor: Floor) -> frozenset[str]:
    """Return the files and folders that no tool may write, as `kept` of a plan takes them."""
    named = (*floor.files, *floor.any_case, *floor.folders, *floor.settings)
    return frozenset(map(os.path.normpath, named))
