"""`SystemView`: the part of the machine that every confined program may read, as it is here.

Rules can take of it away, too. What they name by its path is hidden, whatever wildcards come after
the folder. What begins with wildcards (`**/.env`) is looked for in `/opt` and among single files of
`/etc`: the rest is large, comes from packages, and has names by which rules mean other files, such
as those of public certificates.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from glob import glob

from policy.sandbox.containment import is_within
from policy.sandbox.etc_files import etc_paths
from policy.sandbox.system_files import ETC, SYSTEM

_SEARCHED = "/opt"
_CERTIFICATES = ("ssl/", "pki/")
# Without them nothing starts: a shell, what loads programs, and the library of C.
_NEEDED = (
    "/bin/sh",
    "/lib*/ld-*",
    "/lib*/*-linux-*/ld-*",
    "/lib*/libc.so*",
    "/lib*/*-linux-*/libc.so*",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemView:
    """Paths without links, each of which may be read with all that is in it.

    Of these, `searched` are looked through for what begins with wildcards; nothing that is `needed`
    can be hidden. What is in a `private` folder is no part of the system.
    """

    paths: tuple[str, ...]
    searched: tuple[str, ...]
    needed: tuple[str, ...]
    private: tuple[str, ...] = ()

    def touched_by(self, path: str) -> bool:
        """Return whether a path is in a part of the system, or holds one."""
        if is_within(path, self.private):
            return False
        return is_within(path, self.paths) or any(is_within(one, (path,)) for one in self.paths)

    def parts_in(self, taken: Iterable[str]) -> tuple[str, ...]:
        """Return the parts of the system that are among some paths, or in them."""
        found: set[str] = set()
        for path in taken:
            if is_within(path, self.private):
                continue
            if is_within(path, self.paths):
                found.add(path)
            else:
                found |= {each for each in self.paths if is_within(each, (path,))}
        return tuple(sorted(found))

    def needed_in(self, hidden: Iterable[str]) -> str | None:
        """Return one of some paths that holds what every program needs; None if none does."""
        return next(
            (path for path in hidden if any(is_within(one, (path,)) for one in self.needed)), None
        )


NO_SYSTEM = SystemView(paths=(), searched=(), needed=())


def system_view(*, private: tuple[str, ...] = ()) -> SystemView:
    """Return the view of this machine at this moment, without what is in `private` folders."""
    of_etc = {path: os.path.realpath(path) for path in etc_paths()}
    folders = {*_folders()}
    single = {f"/etc/{name}" for name in ETC if not name.startswith(_CERTIFICATES)}
    files = {path for path in single & of_etc.keys() if os.path.isfile(path)}
    searched = {os.path.realpath(_SEARCHED)} & folders | files
    needed = {os.path.realpath(path) for pattern in _NEEDED for path in glob(pattern)}
    return SystemView(
        paths=tuple(sorted({*folders, *of_etc.values()})),
        searched=tuple(sorted(searched)),
        needed=tuple(sorted(needed)),
        private=private,
    )


def in_system(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of some paths without links that are in a folder of the system."""
    folders = _folders()
    return tuple(path for path in paths if is_within(path, folders))


def _folders() -> tuple[str, ...]:
    found = (os.path.realpath(path) for path in SYSTEM if os.path.isdir(path))
    return tuple(dict.fromkeys(found))
