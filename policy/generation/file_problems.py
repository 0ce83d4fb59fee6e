"""The diagnostics for files and folders that cannot be read."""

from __future__ import annotations

import errno
import os

from policy.diagnostics import Diagnostic, diagnose, visible

_GIVE = "give the path of a folder with `.policy` files, or of one such file"


def keeps_changing() -> Diagnostic:
    """Say that no two reads agreed."""
    return diagnose(
        "unreadable-file",
        "the policy folder kept changing while it was read",
        help="wait until what writes there is done",
    )


def beyond_limit(name: str, files: int, *, size: int) -> Diagnostic:
    """Say at which file the folder went beyond a limit, of files or of bytes."""
    return diagnose(
        "file-too-large",
        f"the policy folder holds more than {files} files or {size // 1_000_000} MB",
        file=visible(name),
        help="keep only policies and their data in the folder",
    )


def link_cycle(name: str) -> Diagnostic:
    """Say that a link makes the folder endless."""
    return diagnose(
        "link-cycle",
        f"the link `{visible(name)}` leads back to a folder it stands in",
        file=visible(name),
        help="remove the link",
    )


def too_deep(name: str, deepest: int) -> Diagnostic:
    """Say that a folder lies too deep."""
    return diagnose(
        "unreadable-file",
        f"`{visible(name)}` lies more than {deepest} folders deep",
        file=visible(name),
        help="keep the policy folder flat enough to review",
    )


def name_not_text(name: str) -> Diagnostic:
    """Say that a file's name is no text."""
    return diagnose(
        "not-utf8",
        f"the file name `{visible(name)}` is not UTF-8",
        file=visible(name),
        help="rename the file",
    )


def misspelt(name: str) -> Diagnostic:
    """Say that a file is called like one that counts but for letter case."""
    return diagnose(
        "unreadable-file",
        f"`{visible(name)}` is not read: names end in `.policy`, in small letters, and the "
        "configuration is called `placet.toml`",
        file=visible(name),
        help="rename it if it is to count, or take it out of the folder",
    )


def no_folder(root: str) -> Diagnostic:
    """Say that there is no folder to read."""
    what = "is no folder" if os.path.lexists(root) else "does not exist"
    return diagnose(
        "unreadable-file",
        f"the policy folder `{visible(root, 1000)}` {what}",
        help=_GIVE,
    )


def empty_path() -> Diagnostic:
    """Say that the path is an empty text, which is not taken for the working folder."""
    return diagnose("unreadable-file", "the path of the policy is empty", help=_GIVE)


def not_a_policy(file: str) -> Diagnostic:
    """Say that a file is called like no policy."""
    return diagnose("unreadable-file", f"`{visible(file, 1000)}` is no policy", help=_GIVE)


def outside_folder(name: str) -> Diagnostic:
    """Say that a link leads out of the folder."""
    return diagnose(
        "outside-folder",
        f"`{visible(name)}` is a link that leads out of the policy folder",
        file=visible(name),
        help="put the file itself into the folder, so that all that decides stands in one place",
    )


def not_regular(name: str) -> Diagnostic:
    """Say that a name is no file's."""
    return diagnose(
        "unreadable-file",
        f"`{visible(name)}` is no regular file",
        file=visible(name),
        help="pipes, sockets and devices are never opened; put a file there",
    )


def too_large(name: str, size: int, *, limit: int) -> Diagnostic:
    """Say that a file is too large."""
    return diagnose(
        "file-too-large",
        f"`{visible(name)}` holds {size} bytes, more than {limit}",
        file=visible(name),
        help="split the file",
    )


_WHY = {
    errno.ENOENT: "leads nowhere",
    errno.ELOOP: "is a link that leads back to itself",
    errno.EACCES: "may not be read by this process",
    errno.EPERM: "may not be read by this process",
}


def unreadable(name: str, problem: OSError) -> Diagnostic:
    """Say what the system says of a file."""
    why = _WHY.get(problem.errno or 0, f"could not be read ({problem.strerror or 'unknown'})")
    return diagnose(
        "unreadable-file",
        f"`{visible(name)}` {why}",
        file=visible(name),
        help="remove it, or make it a file that the service can read",
    )
