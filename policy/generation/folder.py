"""Reads a policy's folder as one `Snapshot`: the bytes of all files, as of one moment.

A pass lists the folder and reads its files; passes are repeated until two in a row are equal. Then
all of these bytes were on disk at the moment between the two, so a save of several files, or the
replacement of a link, is never read half.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from policy.diagnostics import Diagnostic
from policy.environment import links_on_the_way
from policy.generation import file_problems
from policy.generation.stray_files import meant_name
from policy.generation.walk import (
    LARGEST_FOLDER,
    MOST_FILES,
    POLICY_SUFFIX,
    Found,
    Walk,
    has_wrong_case,
)

LARGEST_FILE = 5_000_000  # bytes

_PART = 65_536  # bytes to read at once if a file has grown
_PASSES = 20
_PAUSE = 0.005  # seconds, growing with each pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """One file as it was read: its name in the folder, its path with links resolved, its bytes."""

    name: str
    lexical: str
    real: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All files of a policy, as of one moment.

    `root` is the policy folder (`real_root` with links resolved); if the path was a file, `only` is
    its name. `links` are the links on the way to the folder and its files, and `linked` the folders
    that links in it lead to. `strays` are files that are not read, each with the name by which it
    would be. `unread` has the problem of each file that could not be read; that of
    a data file matters only if a rule names the file. `digest` covers names, contents and problems.
    """

    path: str
    root: str
    real_root: str
    only: str | None
    files: Mapping[str, ReadFile]
    unread: Mapping[str, Diagnostic]
    digest: str
    links: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    strays: tuple[tuple[str, str], ...] = ()

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
    return "sha256:" + hashlib.sha256(content).hexdigest()


def read_folder(path: str | os.PathLike[str]) -> Snapshot:
    """Return the files at `path`, a policy folder or one `.policy` file, as of one moment.

    Never raises because of the disk: files that cannot be read are in `unread`.
    """
    place = absolute_path(path)
    if not place:
        return _snapshot(place, "/", None, {}, {"": file_problems.empty_path()})
    if "\0" in place:  # no system call takes such a name
        return _snapshot(place, "/", None, {}, {"": file_problems.no_folder(place)})
    before = _read_once(place)
    for attempt in range(1, _PASSES):
        after = _read_once(place)
        if after.digest == before.digest and after == before:
            return after
        before = after
        time.sleep(_PAUSE * attempt)
    problem = file_problems.keeps_changing()
    return _snapshot(before.path, before.root, before.only, before.files, {"": problem})


def absolute_path(path: str | os.PathLike[str]) -> str:
    """Return the absolute path of a policy; an empty path stays empty, and is invalid."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"the path of a policy is a string or a `Path`, not {type(text).__name__}")
    return os.path.abspath(text) if text else ""


def with_file(snapshot: Snapshot, name: str, content: bytes) -> Snapshot:
    """Return the snapshot as it would be read if this file contained `content`."""
    lexical = os.path.join(snapshot.root, name)
    file = ReadFile(name=name, lexical=lexical, real=os.path.realpath(lexical), content=content)
    files = dict(sorted({**snapshot.files, name: file}.items()))
    found = _snapshot(snapshot.path, snapshot.root, snapshot.only, files, snapshot.unread)
    return replace(found, links=snapshot.links, linked=snapshot.linked)


Signature: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


def signature(path: str | os.PathLike[str]) -> Signature:
    """Return a value that differs after any change on disk, without reading contents."""
    files = Walk(absolute_path(path)).files()
    return tuple(sorted((file.name, _stat_signature(file.path)) for file in files))


def may_be_unfinished(before: Signature, now: Signature) -> bool:
    """Return whether a file has changed and is still the same file (inode), or is a new one.

    It may be in the middle of a save in place. A file that replaces another one is complete, and
    so is what is read first, without anything before it.
    """
    known = dict(before)
    return bool(known) and any(
        was is None or (found != was and found[:2] == was[:2])
        for name, found in now
        for was in (known.get(name),)
    )


def _stat_signature(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError as problem:
        return (problem.errno or 0,)
    # `may_be_unfinished` compares the first two.
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _read_once(place: str) -> Snapshot:
    walk = Walk(place)
    files: dict[str, ReadFile] = {}
    total = 0
    for found in walk.files():
        outcome = _read_file(walk, found)
        if isinstance(outcome, Diagnostic):
            walk.unread[found.name] = outcome
            continue
        total += len(outcome.content)
        if total > LARGEST_FOLDER or len(files) >= MOST_FILES:
            walk.unread[""] = file_problems.beyond_limit(
                found.name, MOST_FILES, size=LARGEST_FOLDER
            )
            break
        files[found.name] = outcome
    snapshot = _snapshot(place, walk.root, walk.only, files, walk.unread, real_root=walk.real_root)
    ways = {walk.root, *walk.linked}
    without_links = os.path.join(walk.real_root, "")
    ways |= {file.lexical for file in files.values() if file.real != without_links + file.name}
    links = {link for way in ways for link in links_on_the_way(way)}
    strays = [
        (name, meant)
        for name, beside in walk.others
        if (meant := meant_name(name.rpartition("/")[2], beside)) is not None
    ]
    return replace(
        snapshot,
        links=tuple(sorted(links)),
        linked=tuple(sorted({*walk.linked})),
        strays=tuple(strays),
    )


def _snapshot(
    place: str,
    root: str,
    only: str | None,
    files: Mapping[str, ReadFile],
    unread: Mapping[str, Diagnostic],
    *,
    real_root: str | None = None,
) -> Snapshot:
    digest = hashlib.sha256()
    for name in sorted({*files, *unread}):
        # Lengths precede the parts, so that two different folders never hash the same bytes.
        content = files[name].content if name in files else unread[name].message.encode()
        kind = b"file" if name in files else b"problem"
        for part in (kind, name.encode("utf-8", "surrogateescape"), content):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
    return Snapshot(
        path=place,
        root=root,
        real_root=real_root or os.path.realpath(root),
        only=only,
        files=MappingProxyType(dict(files)),
        unread=MappingProxyType(dict(unread)),
        digest=f"sha256:{digest.hexdigest()}",
    )


def _read_file(walk: Walk, found: Found) -> ReadFile | Diagnostic:
    name = found.name
    try:
        name.encode()
    except UnicodeEncodeError:
        return file_problems.name_not_utf8(name)
    if has_wrong_case(name):
        return file_problems.wrong_case(name)
    try:
        real = found.real or os.path.realpath(found.path, strict=True)
        if not walk.holds(real):
            return file_problems.outside_folder(name)
        # Only regular files are opened.
        if found.real is None and not stat.S_ISREG(os.stat(real).st_mode):
            return file_problems.not_regular(name)
        content = _read_regular(name, real)
    except OSError as problem:
        return file_problems.unreadable(name, problem)
    if isinstance(content, Diagnostic):
        return content
    return ReadFile(name=name, lexical=found.path, real=real, content=content)


def _read_regular(name: str, real: str) -> bytes | Diagnostic:
    """Return the content of a file that was a regular file a moment ago."""
    # Non-blocking, in case a pipe has replaced it since; `fstat` reports that.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return file_problems.not_regular(name)
        if found.st_size > LARGEST_FILE:
            return file_problems.too_large(name, found.st_size, limit=LARGEST_FILE)
        content = _all_of(descriptor, found.st_size)
    finally:
        os.close(descriptor)
    return (
        content
        if len(content) <= LARGEST_FILE
        else file_problems.too_large(name, len(content), limit=LARGEST_FILE)
    )


def _all_of(descriptor: int, size: int) -> bytes:
    """Return the content of a file, with `size` bytes expected; stop when it is too large."""
    content = os.read(descriptor, size + 1)
    while len(content) <= LARGEST_FILE and (more := os.read(descriptor, _PART)):
        content += more
    return content
