"""The folder of a plugin that Placet runs: its manifest, its files, and the digest of all of them.

Files are read once. What runs is a copy of what was read, so that it is what the digest is of, even
while somebody writes into the folder.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from policy.capabilities import PluginManifest, PluginRefused, manifest_of
from policy.diagnostics import visible
from policy.values import Unreadable, read_plain_json

MANIFEST = "plugin.json"
_MOST_FILES = 10_000
_DEEPEST = 100  # folders within each other
_MOST_BYTES = 128 * 1024 * 1024
_LARGEST_MANIFEST = 1024 * 1024
# A repository's own files are none of the plugin's.
_LEFT_OUT = frozenset({".git"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFile:
    """One file of a plugin; `link` is where a symbolic link leads, None for a file."""

    content: bytes = b""
    executable: bool = False
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFolder:
    """A plugin as it was read. `files` are named by their paths in the folder, with `/`."""

    manifest: PluginManifest
    digest: str
    files: Mapping[str, PluginFile] = field(repr=False)


def read_plugin(path: str | os.PathLike[str]) -> PluginFolder:
    """Read a plugin's folder; raise PluginRefused with the reason if it cannot be used."""
    files: dict[str, PluginFile] = {}
    size = 0
    try:
        for name, file in _files(os.fspath(path), ""):
            files[name] = file
            size += len(file.content)
            if len(files) > _MOST_FILES or size > _MOST_BYTES:
                raise PluginRefused(
                    f"it has more than {_MOST_FILES:,} files or {_MOST_BYTES // 2**20} MB"
                )
    except OSError as error:
        where = visible(str(error.filename or path), 200)
        raise PluginRefused(f"{where} cannot be read: {error.strerror or error}") from error
    return PluginFolder(manifest=_manifest(files), digest=_digest(files), files=files)


def copied(plugin: PluginFolder, root: Path) -> str:
    """Return a folder below `root` with exactly the files of a plugin; raise OSError.

    It is named by the digest. What has been copied before is used again, if it is still the same.
    """
    place = root / plugin.digest.removeprefix("sha256:")
    if _holds(place, plugin.digest):
        return str(place)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=root))
    try:
        for name, file in plugin.files.items():
            _write(made / name, file)
        _put(made, place, plugin.digest)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return str(place)


def _put(made: Path, place: Path, digest: str) -> None:
    """Give a copy its name; another process may do the same at this moment."""
    if place.exists() and not _holds(place, digest):
        shutil.rmtree(place)
    try:
        made.rename(place)
    except OSError:
        if not _holds(place, digest):
            raise


def _holds(place: Path, digest: str) -> bool:
    try:
        return place.is_dir() and read_plugin(place).digest == digest
    except PluginRefused:
        return False


def _files(root: str, below: str) -> Iterator[tuple[str, PluginFile]]:
    """Yield the files of a folder by name, in a stable order; raise OSError, PluginRefused."""
    if below.count("/") >= _DEEPEST:
        raise PluginRefused(f"it has more than {_DEEPEST} folders within each other")
    with os.scandir(os.path.join(root, below)) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        name = posixpath.join(below, entry.name)
        if entry.name in _LEFT_OUT:
            continue
        if entry.is_symlink():
            yield name, PluginFile(link=_link(entry.path, name))
        elif entry.is_dir(follow_symlinks=False):
            yield from _files(root, name)
        else:
            yield name, _read(entry.path, name)


def _link(path: str, name: str) -> str:
    target = os.readlink(path)
    end = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if target.startswith("/") or end == ".." or end.startswith("../"):
        raise PluginRefused(f"{visible(name, 200)} is a link that leads out of the folder")
    return target


def _read(path: str, name: str) -> PluginFile:
    # Not following links, nor waiting for a pipe that took the file's place.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise PluginRefused(f"{visible(name, 200)} is neither a file nor a folder")
        content = file.read(_MOST_BYTES + 1)
    return PluginFile(content=content, executable=bool(mode & stat.S_IXUSR))


def _write(place: Path, file: PluginFile) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if file.link is not None:
        place.symlink_to(file.link)
        return
    place.write_bytes(file.content)
    place.chmod(0o500 if file.executable else 0o400)


def _manifest(files: Mapping[str, PluginFile]) -> PluginManifest:
    file = files.get(MANIFEST)
    if file is None or file.link is not None:
        raise PluginRefused(f"it has no file `{MANIFEST}`")
    return manifest_from(file.content)


def manifest_from(content: bytes) -> PluginManifest:
    """Return the manifest in a file's content; raise PluginRefused if it is not one."""
    if len(content) > _LARGEST_MANIFEST:
        raise PluginRefused("the manifest is too large")
    value = read_plain_json(content)
    if isinstance(value, Unreadable):
        raise PluginRefused(f"the manifest is {value.reason}")
    if not isinstance(value, dict):
        raise PluginRefused("a manifest is a JSON object")
    return manifest_of(value)


def _digest(files: Mapping[str, PluginFile]) -> str:
    """Return the digest of names, contents and what may be executed; each part has its length."""
    digest = hashlib.sha256()
    for name in sorted(files):
        file = files[name]
        kind = b"link" if file.link is not None else b"exec" if file.executable else b"file"
        content = os.fsencode(file.link) if file.link is not None else file.content
        for part in (os.fsencode(name), kind, content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return f"sha256:{digest.hexdigest()}"
