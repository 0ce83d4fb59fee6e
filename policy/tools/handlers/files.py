"""The file tools: confined to the workspace, on exactly the paths that were judged."""

from __future__ import annotations

import heapq
import os
import secrets
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from policy.catalog import ENCODINGS
from policy.model import Execution
from policy.runtime import Threads
from policy.tools.handler import ExecutionContext
from policy.tools.handlers.judged_path import (
    FOLDER,
    JudgedPath,
    judged_place,
    opened_folder,
    opened_parent,
)
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.native import Run

# NONBLOCK: opening a pipe must not wait for its other end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Work on files takes no time limit: it is short, unless a disk hangs.
_FILES = Threads("files", most=32, patience=10.0, fair=True, begins=True)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def file_tools(limits: Limits) -> dict[str, Run]:
    """Return the function of each file tool."""
    return {
        "file_read": _at_place("file_read", lambda place, i: _read(place, i, limits)),
        "file_write": _at_place("file_write", lambda place, i: _write(place, i, limits)),
        "file_list": _at_place("file_list", lambda place, i: _list(place, i, limits)),
        "file_delete": _at_place("file_delete", lambda place, i: _delete(place)),
        "file_mkdir": _at_place("file_mkdir", lambda place, i: _mkdir(place)),
        "file_chmod": _at_place("file_chmod", _chmod),
    }


def _at_place(tool: str, work: Callable[[JudgedPath, dict[str, Any]], Any]) -> Run:
    """Return a tool that does `work` on the judged path, in a thread."""

    def here(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        place = judged_place(tool, input["path"], ctx)
        try:
            return work(place, input)
        except OSError as error:
            raise place.failed("cannot be used", error) from error

    async def run(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        return await _FILES.run(here, input, ctx)

    return run


def _read(place: JudgedPath, input: dict[str, Any], limits: Limits) -> str:
    encoding = input.get("encoding") or "utf-8"
    if encoding not in ENCODINGS:
        raise Execution(place.tool, "this encoding is not supported")
    with opened_parent(place) as (folder, name), _open(name, folder) as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise place.failed("is not a regular file")
        place.require_judged(state)
        place.require_single(file.fileno(), name)
        content: bytes = file.read(limits.read + 1)
    if len(content) > limits.read:
        raise place.failed(f"is larger than {limits.read} bytes")
    try:
        return content.decode(encoding)
    except (UnicodeError, ValueError) as error:
        raise place.failed(f"is not {encoding} text") from error


def _open(name: str, folder: int) -> Any:
    return os.fdopen(os.open(name, _READ, dir_fd=folder), "rb")


def _write(place: JudgedPath, input: dict[str, Any], limits: Limits) -> dict[str, Any]:
    try:
        content = input["content"].encode("utf-8")
    except UnicodeError as error:
        raise place.failed("cannot hold this content: it is not valid Unicode") from error
    if len(content) > limits.write:
        raise place.failed(f"cannot be larger than {limits.write} bytes")
    with opened_parent(place) as (folder, name):
        mode = _mode_to_keep(place, name, folder)
        _replace(name, content, folder=folder, mode=mode)
    return {"path": place.shown, "bytes": len(content)}


def _mode_to_keep(place: JudgedPath, name: str, folder: int) -> int:
    """Return the permission bits for a file about to be written; refuse other types of files."""
    try:
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return 0o644
    if stat.S_ISLNK(state.st_mode):
        raise place.failed("has become a link since it was judged")
    if not stat.S_ISREG(state.st_mode):
        raise place.failed("is not a regular file")
    if not state.st_mode & 0o222:
        raise place.failed("is read-only")
    return stat.S_IMODE(state.st_mode) & 0o777


def _replace(name: str, content: bytes, *, folder: int, mode: int) -> None:
    """Write a new file and put it in the old one's place.

    A reader never sees half of it, and another name of the old file (a hard link from elsewhere)
    keeps the old content. For that reason it does not matter which file was there when the call
    was judged: none is opened.
    """
    aside = f".{secrets.token_hex(8)}.part"
    handle = os.open(aside, _NEW, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
        os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside, dir_fd=folder)
        raise


def _list(place: JudgedPath, input: dict[str, Any], limits: Limits) -> dict[str, Any]:
    with opened_folder(place) as folder:
        entries: list[dict[str, Any]] = []
        whole = _collect(folder, "", entries, deep=bool(input.get("recursive")), limits=limits)
    return {"entries": entries, "truncated": not whole}


def _collect(
    folder: int, prefix: str, entries: list[dict[str, Any]], *, deep: bool, limits: Limits
) -> bool:
    """Add the entries of a folder, sorted by name; return whether there was room for all."""
    # In a folder with millions of names, only as many are sorted as are returned.
    room = limits.entries - len(entries) + 1
    for name in heapq.nsmallest(room, os.listdir(folder)):
        if len(entries) >= limits.entries:
            return False
        try:
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue
        path = f"{prefix}{name}".encode("utf-8", "replace").decode()
        entries.append({"path": path, "kind": _kind(state.st_mode), "size": state.st_size})
        if deep and stat.S_ISDIR(state.st_mode) and prefix.count("/") < _DEEPEST:
            try:
                inner = os.open(name, FOLDER, dir_fd=folder)
            except OSError:
                continue
            try:
                if not _collect(inner, f"{path}/", entries, deep=True, limits=limits):
                    return False
            finally:
                os.close(inner)
    return True


# Every level keeps a folder open.
_DEEPEST = 64


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    return "file" if stat.S_ISREG(mode) else "other"


def _delete(place: JudgedPath) -> dict[str, Any]:
    with opened_parent(place) as (folder, name):
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(state.st_mode):
            raise place.failed("has become a link since it was judged")
        place.require_judged(state)
        if stat.S_ISDIR(state.st_mode):
            _delete_folder(place, name, folder)
        else:
            os.unlink(name, dir_fd=folder)
    return {"path": place.shown, "deleted": True}


def _delete_folder(place: JudgedPath, name: str, folder: int) -> None:
    """Delete the folder that was judged, by its descriptor, and its contents first."""
    inner = os.open(name, FOLDER, dir_fd=folder)
    try:
        place.require_judged(os.fstat(inner))
        for entry in os.listdir(inner):
            state = os.stat(entry, dir_fd=inner, follow_symlinks=False)
            if stat.S_ISDIR(state.st_mode):
                # Walks by descriptors and follows no links.
                shutil.rmtree(entry, dir_fd=inner)
            else:
                os.unlink(entry, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder)


def _mkdir(place: JudgedPath) -> dict[str, Any]:
    with opened_folder(place, make=True):
        return {"path": place.shown, "created": True}


def _chmod(place: JudgedPath, input: dict[str, Any]) -> dict[str, Any]:
    mode = int(input["mode"], 8)
    if mode & ~0o777:
        raise place.failed("cannot get the set-user, set-group or sticky bit")
    with opened_parent(place) as (folder, name):
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            state = os.fstat(handle)
            if stat.S_ISLNK(state.st_mode):
                raise place.failed("has become a link since it was judged")
            place.require_judged(state)
            place.require_single(handle, name)
            if stat.S_ISREG(state.st_mode) and state.st_nlink > 1:
                raise place.failed("has other names, which would be changed too")
            # A descriptor opened with O_PATH cannot be changed itself, but by its path in /proc.
            os.chmod(f"/proc/self/fd/{handle}", mode)
        finally:
            os.close(handle)
    return {"path": place.shown, "mode": f"{mode:03o}"}
