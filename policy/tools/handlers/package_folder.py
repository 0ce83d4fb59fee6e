"""`PackageFolder`: installed packages, kept for the calls that need the same ones.

An installation is made beside its place and moved there as a whole, so that it is complete if it is
there, whoever was killed meanwhile. Programs read it only.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
import stat
import tempfile
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from policy.diagnostics import visible
from policy.runtime import Shares

_LOG = logging.getLogger(__name__)
_NEW, _OLD = ".new-", ".old-"
# No call takes as long to make an installation, or uses one that was replaced for longer.
_LONGEST_CALL = 2 * 3_600.0
_HOUR = 3_600.0
_MOST_FILES = 100_000
_GONE = "they were removed meanwhile; try again"


class Unusable(Exception):
    """What was installed is not used; the text says why."""


class PackageFolder:
    """The installations below `root`, each named by a digest, and used for `keep` seconds.

    At most `most` are kept: the one that no call has used for longest makes room for another.
    Whoever has made half of them makes room among those, and what is in use is shared out.
    """

    def __init__(self, root: Path, *, keep: float, most: int) -> None:
        self._root = root
        self._keep = keep
        self._most = most
        self._clean_at = 0.0
        # Who has made the installations of this process, by place.
        self._makers: dict[str, Hashable] = {}
        self._shares = Shares(most)
        self._users: Counter[tuple[Hashable, str]] = Counter()

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
    def held(self, place: str, by: Hashable = None) -> Iterator[None]:
        """Keep an installation where it is within the block; raise Unusable if it is gone.

        What a process holds ends with it, and other processes see it. Raises Unusable, too, for a
        caller who uses as many as one may.
        """
        with self._shared(place, by), _locked(place):
            yield

    @contextmanager
    def _shared(self, place: str, by: Hashable) -> Iterator[None]:
        use = (by, place)
        if use not in self._users:
            if not self._shares.has_room(by):
                raise Unusable("one caller may not use more installations at a time")
            self._shares.take(by)
        self._users[use] += 1
        try:
            yield
        finally:
            self._users[use] -= 1
            if not self._users[use]:
                del self._users[use]
                self._shares.give_back(by)

    @contextmanager
    def new(self, by: Hashable = None) -> Iterator[str]:
        """Make a folder for an installation; what is left of it after the block is removed.

        Raises Unusable where there is no room for another one.
        """
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._require_own()
        self._make_room(by)
        staging = os.path.realpath(tempfile.mkdtemp(prefix=_NEW, dir=self._root))
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def put(self, made: str, place: str, by: Hashable = None) -> None:
        """Move an installation to its place, unless one is there that can be used."""
        self._makers[place] = by
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

    def _make_room(self, by: Hashable) -> None:
        """Remove installations until there is room for one more; raise Unusable if all are used."""
        whole = [entry for entry in self._entries() if entry.is_whole]
        kept = [entry.path for entry in sorted(whole, key=lambda entry: entry.last_use)]
        self._makers = {path: self._makers[path] for path in kept if path in self._makers}
        own = [path for path in kept if path in self._makers and self._makers[path] == by]
        if 2 * len(own) >= self._most:
            kept = [*own, *(path for path in kept if path not in own)]
        too_many = len(kept) - self._most + 1
        for path in kept:
            if too_many <= 0:
                return
            too_many -= _remove(path)
        if too_many > 0:
            raise Unusable(
                f"there are {self._most} installations in use, as many as "
                "`[service.python] installations` permits"
            )

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


def _remove(path: str) -> bool:
    """Remove an installation that no call uses as a whole; return whether it is gone.

    Half of one is never found in its place.
    """
    gone = f"{os.path.dirname(path)}/{_OLD}{os.path.basename(path).removeprefix(_OLD)}"
    try:
        found = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(path, gone)
        finally:
            os.close(found)
        shutil.rmtree(gone)
    except BlockingIOError:
        return False
    except OSError as error:
        _LOG.warning("%s cannot be removed: %s", visible(gone, 300), error.strerror)
    return not os.path.lexists(path)


@contextmanager
def _locked(place: str) -> Iterator[None]:
    """Hold the folder of an installation; raise Unusable if it is gone."""
    try:
        held = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Unusable(_GONE) from None
    try:
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if not _is_same(held, place):
            raise Unusable(_GONE)
        yield
    except BlockingIOError:
        raise Unusable(_GONE) from None
    finally:
        os.close(held)


def _is_same(held: int, place: str) -> bool:
    try:
        return os.path.samestat(os.fstat(held), os.stat(place, follow_symlinks=False))
    except FileNotFoundError:
        return False


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
