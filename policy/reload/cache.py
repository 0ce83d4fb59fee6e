"""What was found out of one policy's rules in, a file in the user's own folder out; and back.

It saves time and nothing else: where anything about the file is odd, it counts as not there. It
counts only for who may write the policy as well, and only if it was written by this very version
for these very surroundings; what it holds is data, read by `checks.read_rules`.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from policy import later
from policy.digests import sha256
from policy.reload.folder import Snapshot

if TYPE_CHECKING:
    from policy.checks import Remembered
    from policy.reload.beyond import own_digest
else:
    own_digest = later.function("policy.reload.beyond", "own_digest")

# A folder, True for this user's own; False for none, and an empty text as well.
Where: TypeAlias = str | os.PathLike[str] | bool

_FORMAT = 3
_SUFFIX = ".known"
LARGEST = 200_000_000  # bytes of one file; a policy folder holds no more than half as many
_LONGEST = 4_000  # bytes of its first line
_MOST = 64  # files, of as many policies
# Which file this process writes; taking the next number is one step for all threads.
_WRITTEN = count()
# What a file is called here, and one that is being written.
_OWN_NAME = later.pattern(r"[0-9a-f]{40}\.known(\.[0-9]+-[0-9]+\.new)?")
# A file is written again once one in so many of its rules is new.
_WORTH = 16


def default_folder() -> str | None:
    """Return the folder in which this user keeps what was found out; None if there is none."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    base = given if os.path.isabs(given) else os.path.expanduser("~/.cache")
    return os.path.join(base, "placet") if os.path.isabs(base) else None


def open_cache(where: Where, snapshot: Snapshot) -> Cache | None:
    """Return the cache of a policy, if it has one."""
    folder = _folder(where)
    return None if folder is None else Cache(folder, snapshot.real_root, only=snapshot.only)


def cache_folders(where: Where) -> tuple[str, ...]:
    """Return the folders that no tool may write, as spelled and with links resolved.

    This user's own is one of them even for who keeps nothing: another process may begin with it.
    """
    found = [folder for folder in (_folder(where), default_folder()) if folder is not None]
    return tuple(dict.fromkeys((*found, *map(os.path.realpath, found))))


def _folder(where: Where) -> str | None:
    if where is False or where == "":
        return None
    return default_folder() if where is True else os.path.abspath(os.fspath(where))


class Cache:
    """The file of one policy in `folder`: of the folder at `root`, or of `only` one file there."""

    def __init__(self, folder: str, root: str, *, only: str | None = None) -> None:
        self.folder = folder
        path = root if only is None else os.path.join(root, only)
        name = sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
        self._path = os.path.join(self.folder, name[:40] + _SUFFIX)
        self._counts = _is_ours(path)

    def read(self, remembered: Remembered) -> None:
        """Tell `remembered` what the file holds, if it is ours and whole."""
        if not self._counts or not _is_private(self.folder):
            return
        from policy.checks import NotStorable, read_rules

        try:
            written, parts = _content(self._path)
            if written != _header(written["surroundings"], parts):
                return
            heads, rules = read_rules(*parts)
        except (NotStorable, OSError, TypeError, ValueError, KeyError, RecursionError):
            return
        remembered.learn(written["surroundings"], heads, rules)

    def write(self, remembered: Remembered) -> None:
        """Write what is remembered, if enough of it is new; where that fails, nothing is lost."""
        if not self._counts or remembered.unsaved * _WORTH <= len(remembered.rules):
            return
        from policy.checks import write_rules

        remembered.unsaved = 0
        parts = write_rules(remembered.rules, remembered.heads)
        first = json.dumps(_header(remembered.surroundings, parts)).encode("ascii") + b"\n"
        content = b"".join((first, *parts))
        if len(content) > LARGEST:
            return
        with suppress(OSError):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if _is_private(self.folder):
                _replace(self._path, content)
                _drop_old(self.folder)


def _header(surroundings: object, parts: Iterable[bytes]) -> dict[str, object]:
    """Return what the first line says: what the parts hold for, how long each is, its digest."""
    return {
        "placet": _FORMAT,
        "code": own_digest(),
        "surroundings": surroundings,
        "parts": [[len(part), sha256(part).hexdigest()] for part in parts],
    }


def _is_ours(root: str) -> bool:
    """Tell whether this user may change the policy: then the file adds nothing to what they may."""
    try:
        found = os.stat(root)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and os.access(root, os.W_OK)


def _is_private(folder: str) -> bool:
    """Tell whether a folder is this user's own and nobody else may write or read in it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and _is_own(found)


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _content(path: str) -> tuple[dict[str, Any], list[bytes]]:
    """Return what the first line of a file of our own says, and the parts that follow it.

    Raises OSError or ValueError for a link or anything else, and whatever an odd line leads to.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        own = stat.S_ISREG(found.st_mode) and _is_own(found) and found.st_nlink == 1
        if not own or found.st_size > LARGEST:
            raise ValueError("a file of another kind")
        first = file.readline(_LONGEST)
        written = json.loads(first)
        sizes = [size for size, _ in written["parts"]]
        # None is larger than the file, and one that grows meanwhile is not the one written here.
        sound = {*map(type, sizes)} == {int} and min(sizes) >= 0
        if not sound or len(first) + sum(sizes) != found.st_size:
            raise ValueError("parts of another size")
        return written, [file.read(size) for size in sizes]


def _replace(path: str, content: bytes) -> None:
    # Whoever else writes it, in this process or another one, writes a file of its own.
    beside = f"{path}.{os.getpid()}-{next(_WRITTEN)}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(FileNotFoundError):
        os.unlink(beside)  # left by a process long gone
    try:
        with open(os.open(beside, flags, 0o600), "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _drop_old(folder: str) -> None:
    """Remove the files that were written longest ago, of more policies than anybody has."""
    kept: list[tuple[int, str]] = []
    for entry in _entries(folder):
        with suppress(OSError):
            kept.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path))
    for _, path in sorted(kept)[:-_MOST]:
        with suppress(OSError):
            os.unlink(path)


def _entries(folder: str) -> Iterable[os.DirEntry[str]]:
    """Return the files that were written here: a folder that somebody names may hold others."""
    with os.scandir(folder) as found:
        return [one for one in found if _OWN_NAME.fullmatch(one.name)]
