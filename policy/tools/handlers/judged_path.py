"""Opens the folder of a path exactly as it was judged, whatever links have changed since.

The path is read as rules read it, with the links as they were followed for the decision. The result
is opened from the root on, component by component, without following links: a link that was put
there meanwhile is detected, not followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from policy.diagnostics import visible
from policy.environment import follow_links
from policy.model import Execution
from policy.tools.handler import ExecutionContext
from policy.values import PathContext, Unreadable, exact_path

# Linux appends this to the name of an open file that has lost it.
_LOST = " (deleted)"
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A folder on the way need not be readable.
_WAY = FOLDER | getattr(os, "O_PATH", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPath:
    """A file or folder inside the workspace, by the names that lead to it from there.

    `parts` is empty for the workspace itself; `root` are the names that lead to the workspace, and
    neither contains a link. `tool` is the calling tool, for its errors. `single` means that the
    file, if it was one, had no other name when it was judged; `identity` returns its device and
    inode at that time, None if nothing was there. Without a look at the disk, `identity` is None.
    """

    tool: str
    root: tuple[str, ...]
    parts: tuple[str, ...]
    single: bool
    identity: Callable[[], tuple[int, int] | None] | None = None

    @property
    def shown(self) -> str:
        """The path relative to the workspace, for people and models."""
        return visible("/".join(self.parts) or ".", 200)

    def failed(self, what: str, cause: OSError | None = None) -> Execution:
        """Return the error that tells what went wrong here."""
        why = "" if cause is None else f": {_explained(cause)}"
        return Execution(self.tool, f"the path {what}{why}")

    def require_judged(self, state: os.stat_result) -> None:
        """Raise Execution unless the open file is the one that was here when it was judged."""
        if self.identity is not None and self.identity() != (state.st_dev, state.st_ino):
            raise self.failed("is another file than when it was judged")

    def require_single(self, handle: int, name: str) -> None:
        """Raise Execution if an open file, judged as one without other names, has one now.

        A file that lost the name it was opened by shows one name fewer than it had. So its names
        are counted first, and it must still have this one afterwards: a lost one does not return.
        """
        state = os.fstat(handle)
        if not self.single or not stat.S_ISREG(state.st_mode):
            return
        if state.st_nlink > 1:
            raise self.failed("has another name than when it was judged")
        if _has_lost_its_name(handle, name):
            raise self.failed("is another file than when it was judged")


def judged_place(tool: str, path: str, ctx: ExecutionContext) -> JudgedPath:
    """Return where `path` leads; raise Execution if that is unknown or outside the workspace."""
    if ctx.workspace is None:
        raise Execution(tool, "there is no workspace to work in")
    facts = ctx.facts
    context = PathContext(
        cwd=facts.cwd or ctx.workspace,
        home=facts.home,
        workspace=ctx.workspace,
        resolve=facts.resolvers.path or follow_links,
    )
    leads = exact_path(path, context)
    root = exact_path(ctx.workspace, context)
    if isinstance(leads, Unreadable):
        raise Execution(tool, f"the path cannot be used{unquoted(leads)}")
    if isinstance(root, Unreadable):
        raise Execution(tool, f"the workspace cannot be used{unquoted(root)}")
    above, names = _names(root), _names(leads)
    if names[: len(above)] != above:
        raise Execution(tool, "the path is outside the workspace")
    other_names = facts.resolvers.other_names
    single = other_names is not None and not other_names(leads)
    identify = facts.resolvers.identity
    return JudgedPath(
        tool=tool,
        root=above,
        parts=names[len(above) :],
        single=single,
        identity=None if identify is None else partial(identify, leads),
    )


def _has_lost_its_name(handle: int, name: str) -> bool:
    try:
        now = os.readlink(f"/proc/self/fd/{handle}").rpartition("/")[2]
    except OSError:
        return False  # a system that does not report it
    return now.endswith(_LOST) and now != name


def unquoted(why: Unreadable) -> str:
    """Return `: reason` without quotations of the input, or nothing."""
    said = why.reason.partition(": `")[0]
    return "" if "`" in said else f": {said}"


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name)


@contextmanager
def opened_folder(place: JudgedPath, *, make: bool = False) -> Iterator[int]:
    """Yield a readable descriptor of the folder at `place`; with `make`, create missing ones."""
    with _walked(place, place.parts, make=make) as way:
        handle = os.open(".", FOLDER, dir_fd=way)
        try:
            if not make:
                place.require_judged(os.fstat(handle))
            yield handle
        finally:
            os.close(handle)


@contextmanager
def opened_parent(place: JudgedPath) -> Iterator[tuple[int, str]]:
    """Yield a descriptor of the folder that contains `place`, and its name there."""
    if not place.parts:
        raise place.failed("is the workspace itself")
    with _walked(place, place.parts[:-1]) as way:
        yield way, place.parts[-1]


@contextmanager
def _walked(place: JudgedPath, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
    """Yield a descriptor at the end of the path from the root to `parts`, which has no links."""
    way = os.open("/", _WAY)
    try:
        for name in place.root:
            way = _next(way, name)
        for name in parts:
            if make:
                _make(name, way)
            way = _next(way, name)
        yield way
    except OSError as error:
        raise place.failed("cannot be reached", error) from error
    finally:
        os.close(way)


def _next(way: int, name: str) -> int:
    inner = os.open(name, _WAY, dir_fd=way)
    os.close(way)
    return inner


def _make(name: str, folder: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    except FileExistsError:
        # Opening it next shows whether it is a folder.
        return


def _explained(cause: OSError) -> str:
    if cause.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a part of the path is a link or not a folder"
    return _EXPLAINED.get(cause.errno or 0, "the system refused it")


_EXPLAINED = {
    errno.ENOENT: "there is no such file or folder",
    errno.EACCES: "its permission bits forbid it",
    errno.EPERM: "its permission bits forbid it",
    errno.EISDIR: "it is a folder",
    errno.EEXIST: "it already exists",
    errno.ENOSPC: "the disk is full",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ENXIO: "it is not a regular file",
    errno.EROFS: "the disk is read-only",
}
