"""A path as a tool was given it in, the open folder it stands in out, exactly as it was judged.

The path is read by the reader that rules use, with the links as they were followed for the
decision. What is opened is the result, component by component and following no link at all: a
link that was put there meanwhile is found out, not followed.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from policy.diagnostics import visible
from policy.errors import Execution
from policy.service.handler import ExecutionContext
from policy.values import PathContext, Unreadable, read_path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file or folder inside the workspace: the names that lead to it from there.

    `parts` is empty for the workspace itself. `tool` is who asks, for its errors.
    """

    tool: str
    root: str
    parts: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The path relative to the workspace, for people and models."""
        return visible("/".join(self.parts) or ".", 200)

    def failed(self, what: str, cause: OSError | None = None) -> Execution:
        """Return the error that says what went wrong here."""
        why = "" if cause is None else f": {_explained(cause)}"
        return Execution(self.tool, f"`{self.shown}` {what}{why}")


def judged_place(tool: str, path: str, ctx: ExecutionContext) -> Place:
    """Return where `path` leads; raise Execution if that is unknown or outside the workspace."""
    if ctx.workspace is None:
        raise Execution(tool, "there is no workspace to work in")
    root = os.path.realpath(ctx.workspace)
    facts = ctx.facts
    context = PathContext(
        cwd=facts.cwd or ctx.workspace,
        home=facts.home,
        workspace=ctx.workspace,
        resolve=facts.resolvers.path or os.path.realpath,
    )
    read = read_path(path, context)
    if isinstance(read, Unreadable):
        raise Execution(tool, f"the path cannot be used: {read.reason}")
    resolved = read.resolved if read.resolved is not None else read.lexical
    if resolved != root and not resolved.startswith(root.rstrip("/") + "/"):
        raise Execution(tool, f"`{visible(path, 200)}` is outside of the workspace")
    parts = tuple(part for part in resolved[len(root) :].split("/") if part)
    return Place(tool=tool, root=root, parts=parts)


@contextmanager
def opened_folder(place: Place, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
    """Give a descriptor of the folder at `parts`; with `make`, missing ones are made."""
    handle = os.open(place.root, _FOLDER)
    try:
        for part in parts:
            if make:
                _make(part, handle)
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    except OSError as error:
        raise place.failed("cannot be reached", error) from error
    finally:
        os.close(handle)


@contextmanager
def opened_parent(place: Place) -> Iterator[tuple[int, str]]:
    """Give a descriptor of the folder that `place` stands in, and its name there."""
    if not place.parts:
        raise place.failed("is the workspace itself")
    with opened_folder(place, place.parts[:-1]) as folder:
        yield folder, place.parts[-1]


def _make(name: str, folder: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    except FileExistsError:
        # Opening it next tells whether it is a folder.
        return


def _explained(cause: OSError) -> str:
    if cause.errno in (errno.ELOOP, errno.ENOTDIR):
        return "something on the way is a link or no folder"
    return _EXPLAINED.get(cause.errno or 0, "the system refused it")


_EXPLAINED = {
    errno.ENOENT: "there is no such file or folder",
    errno.EACCES: "its permission bits forbid it",
    errno.EPERM: "its permission bits forbid it",
    errno.EISDIR: "it is a folder",
    errno.EEXIST: "it is there already",
    errno.ENOSPC: "the disk is full",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ENXIO: "it is no ordinary file",
    errno.EROFS: "the disk is read-only",
}
