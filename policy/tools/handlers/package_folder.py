"""`PackageFolder`: installed packages, kept for the calls that need the same ones.

An installation is made beside its place and moved there as a whole, so that it is complete if it is
there, whoever was killed meanwhile. Programs read it only.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from policy.diagnostics import visible

_LOG = logging.getLogger(__name__)
_NEW, _OLD = ".new-", ".old-"
# No call uses an installation for longer, or takes as long to make one.
_LONGEST_CALL = 2 * 3_600.0
_HOUR = 3_600.0
_MOST_FILES = 100_000


class Unusable(Exception):
    """What was installed is not used; the text says why."""


class PackageFolder:
    """The installations below `root`, each named by a digest, and used for `keep` seconds.

    At most `most` are kept: the one that no call has used for longest makes room for another.
    """

    def __init__(self, root: Path, *, keep: float, most: int) -> None:
        self._root = root
        self._keep = keep
        self._most = most
        self._clean_at = 0.0

    def place_of(self, key: object) -> str:
        """Return where the installation of a key is, or would be; `key` is JSON."""
        text = json.dumps(key, sort_keys=True)
        return str(self._root / hashlib.sha256(text.encode()).hexdigest()[:32])

    def use(self, place: str) -> bool:
        """Return whether an installation is there that is not too old; note that it is used."""
        try:
            made = os.stat(place, follow_symlinks=False).st_mtime_ns
            if time.time() - made / 1e9 >= self._keep:
                return False
            # The time of access is that of the last use, that of modification stays.
            os.utime(place, ns=(time.time_ns(), made))
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def new(self) -> Iterator[str]:
        """Make a folder for an installation; what is left of it after the block is removed.

        Raises Unusable where there is no room for another one.
        """
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._require_own()
        self._make_room()
        staging = os.path.realpath(tempfile.mkdtemp(prefix=_NEW, dir=self._root))
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def put(self, made: str, place: str) -> None:
        """Move an installation to its place, unless one is there that can be used."""
        os.utime(made)
        if not self.use(place):
            with suppress(FileNotFoundError):
                # Programs that use it keep it open: it is removed when none can any more.
                os.rename(place, f"{self._root}/{_OLD}{os.path.basename(place)}-{time.time_ns()}")
        try:
            os.rename(made, place)
        except OSError:
            if not self.use(place):
                raise

    def _require_own(self) -> None:
        found = os.stat(self._root, follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise Unusable(f"others may write in {visible(str(self._root), 300)}")

    def _make_room(self) -> None:
        """Remove installations until there is room for one more; raise Unusable if all are used."""
        kept = sorted((entry.last_use, entry.path) for entry in self._entries() if entry.is_whole)
        while len(kept) >= self._most:
            last_use, path = kept.pop(0)
            if time.time() - last_use < _LONGEST_CALL:
                raise Unusable(
                    f"there are {self._most} installations that were used just now, as many as "
                    "`[service.python] installations` permits"
                )
            _remove(path)

    def clean_if_due(self) -> None:
        """Remove what no call can use any more, at most once an hour."""
        if time.monotonic() < self._clean_at:
            return
        self._clean_at = time.monotonic() + _HOUR
        now = time.time()
        for entry in self._entries():
            is_old = not entry.is_whole or now - entry.made > self._keep
            if is_old and now - entry.last_use > _LONGEST_CALL:
                _remove(entry.path)

    def _entries(self) -> list[_Entry]:
        found = []
        with suppress(FileNotFoundError), os.scandir(self._root) as entries:
            for entry in entries:
                with suppress(OSError):
                    seen = entry.stat(follow_symlinks=False)
                    last_use = max(seen.st_atime, seen.st_mtime)
                    is_whole = not entry.name.startswith((_NEW, _OLD))
                    found.append(_Entry(entry.path, is_whole, seen.st_mtime, last_use))
        return found


@dataclass(frozen=True, slots=True)
class _Entry:
    """A folder among the installations; unless it `is_whole`, it is what is left of one."""

    path: str
    is_whole: bool
    made: float
    last_use: float


def _remove(path: str) -> None:
    """Remove an installation as a whole: half of one is never found in its place."""
    gone = f"{os.path.dirname(path)}/{_OLD}{os.path.basename(path).removeprefix(_OLD)}"
    try:
        os.rename(path, gone)
        shutil.rmtree(gone)
    except OSError as error:
        _LOG.warning("%s cannot be removed: %s", visible(gone, 300), error.strerror)


def size_of(folder: str) -> int:
    """Return the bytes of all files in a folder that may change meanwhile."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.stat(os.path.join(place, name), follow_symlinks=False).st_blocks * 512
    return total


def require_plain(folder: str) -> None:
    """Raise Unusable unless there are only folders and files, and not too many."""
    count = 0
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(place, name)
            mode = os.stat(path, follow_symlinks=False).st_mode
            if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
                shown = visible(os.path.relpath(path, folder), 200)
                raise Unusable(f"{shown} is neither a file nor a folder")
            count += 1
    if count > _MOST_FILES:
        raise Unusable(f"there are more than {_MOST_FILES:,} files in it")


def distributions_in(folder: str) -> list[tuple[str, str]]:
    """Return name and version of each package that is installed in a folder, sorted."""
    found = []
    for name in os.listdir(folder):
        if name.endswith(".dist-info"):
            package, _, version = name.removesuffix(".dist-info").partition("-")
            found.append((package, version))
    return sorted(found)
