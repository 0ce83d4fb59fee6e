"""A path in, one `Snapshot` out: the bytes of everything a generation is made of, read as one.

A pass lists the folder and reads its files; passes are repeated until two in a row saw the same.
Then all of it stood on disk together at the moment between the two, so a save of several files or
a swapped link can never be read half and half.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from policy.diagnostics import Diagnostic
from policy.digests import sha256
from policy.records import dataclass
from policy.reload import unread

SETTINGS_FILE = "placet.toml"
POLICY_SUFFIX = ".policy"
DATA_SUFFIXES = (".toml", ".json")

LARGEST_FILE = 5_000_000  # bytes
LARGEST_FOLDER = 100_000_000  # bytes, all files together
MOST_FILES = 10_000
MOST_ENTRIES = 100_000  # whatever they are called: a folder is no place for a source tree
DEEPEST = 32  # folders

# What a single policy file may use of the folder it stands in.
_BESIDE_A_FILE = ("packs", "data", "programs")
_PASSES = 20
_PAUSE = 0.005  # seconds, growing with each pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """One file as it was read: its name in the folder, where it really lies, and its bytes."""

    name: str
    lexical: str
    real: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything that was read, at one moment.

    `root` is the policy folder (`real_root` with links resolved) and `only` the one file that is
    meant, if the path was a file.
    `unread` says of names that matter why they could not be read; a data file's problem counts
    only if something names it. `digest` covers names, contents and problems.
    """

    path: str
    root: str
    real_root: str
    only: str | None
    files: Mapping[str, ReadFile]
    unread: Mapping[str, Diagnostic]
    digest: str

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of the policy files, sorted."""
        return tuple(name for name in sorted(self.files) if name.endswith(POLICY_SUFFIX))

    @property
    def digests(self) -> Mapping[str, str]:
        """Each file's own digest, by name."""
        return MappingProxyType(
            {name: content_digest(file.content) for name, file in sorted(self.files.items())}
        )


def content_digest(content: bytes) -> str:
    """Return `sha256:` and the hexadecimal digest of some bytes."""
    return "sha256:" + sha256(content).hexdigest()


def read_folder(path: str | os.PathLike[str]) -> Snapshot:
    """Return what stands at `path`, a policy folder or one `.policy` file, as of one moment.

    Never raises for what is on disk: what cannot be read is in `unread`.
    """
    place = place_of(path)
    if not place:
        return _snapshot(place, "/", None, {}, {"": unread.no_name()})
    if "\0" in place:  # no system call takes such a name
        return _snapshot(place, "/", None, {}, {"": unread.no_folder(place)})
    before = _read_once(place)
    for attempt in range(1, _PASSES):
        after = _read_once(place)
        if after.digest == before.digest and after == before:
            return after
        before = after
        time.sleep(_PAUSE * attempt)
    moving = unread.moving()
    return _snapshot(before.path, before.root, before.only, before.files, {"": moving})


def place_of(path: str | os.PathLike[str]) -> str:
    """Return the absolute path of a policy; an empty one stays empty, and is none."""
    given = os.fspath(path)
    if not isinstance(given, str):
        raise TypeError(f"the path of a policy is a text or a `Path`, not {type(given).__name__}")
    return os.path.abspath(given) if given else ""


def with_file(snapshot: Snapshot, name: str, content: bytes) -> Snapshot:
    """Return the snapshot that a read would give if this file held `content`."""
    lexical = os.path.join(snapshot.root, name)
    file = ReadFile(name=name, lexical=lexical, real=os.path.realpath(lexical), content=content)
    files = dict(sorted({**snapshot.files, name: file}.items()))
    return _snapshot(snapshot.path, snapshot.root, snapshot.only, files, snapshot.unread)


Signature: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


def signature(path: str | os.PathLike[str]) -> Signature:
    """Return what a change on disk would change, without reading a byte of content."""
    walk = _Walk(place_of(path))
    return tuple(sorted((name, _stat_signature(target)) for name, target in walk.candidates()))


def _stat_signature(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError as problem:
        return (problem.errno or 0,)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _read_once(place: str) -> Snapshot:
    walk = _Walk(place)
    files: dict[str, ReadFile] = {}
    total = 0
    for name, path in walk.candidates():
        outcome = _read_file(walk, name, path)
        if isinstance(outcome, Diagnostic):
            walk.unread[name] = outcome
            continue
        total += len(outcome.content)
        if total > LARGEST_FOLDER or len(files) >= MOST_FILES:
            walk.unread[""] = unread.too_much(name, MOST_FILES, size=LARGEST_FOLDER)
            break
        files[name] = outcome
    return _snapshot(place, walk.root, walk.only, files, walk.unread)


def _snapshot(
    place: str,
    root: str,
    only: str | None,
    files: Mapping[str, ReadFile],
    unread: Mapping[str, Diagnostic],
) -> Snapshot:
    digest = sha256(expected=sum(len(file.content) for file in files.values()))
    for name in sorted({*files, *unread}):
        # Lengths before the parts, so that no two folders can give one text to hash.
        told = files[name].content if name in files else unread[name].message.encode()
        kind = b"file" if name in files else b"problem"
        for part in (kind, name.encode("utf-8", "surrogateescape"), told):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
    return Snapshot(
        path=place,
        root=root,
        real_root=os.path.realpath(root),
        only=only,
        files=MappingProxyType(dict(files)),
        unread=MappingProxyType(dict(unread)),
        digest=f"sha256:{digest.hexdigest()}",
    )


class _Walk:
    """One listing of the folder: candidates by name, and what went wrong on the way."""

    def __init__(self, place: str) -> None:
        self.unread: dict[str, Diagnostic] = {}
        self.only: str | None = None
        self.root = place
        self._entries = 0
        if os.path.isfile(place) or (place.endswith(POLICY_SUFFIX) and not os.path.isdir(place)):
            self.root, self.only = os.path.split(place)
            if not self.only.endswith(POLICY_SUFFIX) or self.only == POLICY_SUFFIX:
                self.unread[""] = unread.no_policy(place)
        self.real_root = os.path.realpath(self.root)

    def candidates(self) -> Iterator[tuple[str, str]]:
        """Yield the name and lexical path of every file that matters, whether readable or not."""
        if self.unread:
            return
        if self.only is not None:
            yield from self._around_a_file(self.only)
            return
        if not os.path.isdir(self.root):
            self.unread[""] = unread.no_folder(self.root)
            return
        yield from self._below("", (self.real_root,))

    def _around_a_file(self, only: str) -> Iterator[tuple[str, str]]:
        yield only, os.path.join(self.root, only)
        if os.path.lexists(os.path.join(self.root, SETTINGS_FILE)):
            for name in self._list(""):
                path = os.path.join(self.root, name)
                if _is_data(name) and not os.path.isdir(path):
                    yield name, path
        for folder in _BESIDE_A_FILE:
            path = os.path.join(self.root, folder)
            if os.path.isdir(path):
                real = os.path.realpath(path)
                if self._is_inside(real):
                    yield from self._below(folder + "/", (self.real_root, real))

    def _below(self, prefix: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        for name in self._list(prefix):
            full = prefix + name
            path = os.path.join(self.root, full)
            if os.path.isdir(path):
                yield from self._folder(full, path, above)
            elif _matters(full):
                yield full, path

    def _folder(self, name: str, path: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        real = os.path.realpath(path)
        if not self._is_inside(real):
            self.unread[name] = unread.outside(name)
        elif real in above:
            self.unread[name] = unread.leads_back(name)
        elif len(above) > DEEPEST:
            self.unread[name] = unread.too_deep(name, DEEPEST)
        else:
            yield from self._below(name + "/", (*above, real))

    def _list(self, prefix: str) -> list[str]:
        folder = os.path.join(self.root, prefix) if prefix else self.root
        try:
            names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
        except OSError as problem:
            self.unread[prefix] = unread.unreadable(prefix or ".", problem)
            return []
        self._entries += len(names)
        if self._entries > MOST_ENTRIES:
            self.unread[""] = unread.too_much(prefix, MOST_FILES, size=LARGEST_FOLDER)
            return []
        return names

    def _is_inside(self, real: str) -> bool:
        return real == self.real_root or real.startswith(self.real_root.rstrip("/") + "/")

    def holds(self, real: str) -> bool:
        """Tell whether a resolved path lies below the resolved folder."""
        return self._is_inside(real)


def _matters(name: str) -> bool:
    return name.endswith(POLICY_SUFFIX) or _is_data(name)


def _is_data(name: str) -> bool:
    return name.endswith(DATA_SUFFIXES)


def _read_file(walk: _Walk, name: str, path: str) -> ReadFile | Diagnostic:
    try:
        name.encode()
    except UnicodeEncodeError:
        return unread.no_text(name)
    try:
        real = os.path.realpath(path, strict=True)
        if not walk.holds(real):
            return unread.outside(name)
        content = _read_regular(name, real)
    except OSError as problem:
        return unread.unreadable(name, problem)
    if isinstance(content, Diagnostic):
        return content
    return ReadFile(name=name, lexical=path, real=real, content=content)


def _read_regular(name: str, real: str) -> bytes | Diagnostic:
    """Return the content of a regular file; nothing else is ever opened."""
    found = os.stat(real)
    if not stat.S_ISREG(found.st_mode):
        return unread.not_regular(name)
    if found.st_size > LARGEST_FILE:
        return unread.too_large(name, found.st_size, limit=LARGEST_FILE)
    # Non-blocking, should a pipe have taken its place since; then `fstat` tells.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return unread.not_regular(name)
        content = file.read(LARGEST_FILE + 1)
    return (
        content
        if len(content) <= LARGEST_FILE
        else unread.too_large(name, len(content), limit=LARGEST_FILE)
    )
