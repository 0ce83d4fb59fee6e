"""The diagnostics for files and folders that cannot be read."""

from __future__ import annotations

import errno
import os

from policy.diagnostics import Diagnostic, diagnose, visible

_GIVE = "give the path of a folder with `.policy` files, or of one such file"


def keeps_changing() -> Diagnostic:
    """Report that no two passes read the same."""
    return diagnose(
        "unreadable-file",
        "the policy folder kept changing while it was read",
        help="wait until the program that writes there is done",
    )


def beyond_limit(name: str, files: int, *, size: int) -> Diagnostic:
    """Report the file at which the folder exceeded a limit, of files or of bytes."""
    return diagnose(
        "file-too-large",
        f"the policy folder holds more than {files} files or {size // 1_000_000} MB",
        file=visible(name),
        help="keep only policies and their data in the folder",
    )


def link_cycle(name: str) -> Diagnostic:
    """Report a link that leads back to a folder above it."""
    return diagnose(
        "link-cycle",
        f"the link `{visible(name)}` leads back to a folder that contains it",
        file=visible(name),
        help="remove the link",
    )


def too_deep(name: str, deepest: int) -> Diagnostic:
    """Report a folder that is nested too deeply."""
    return diagnose(
        "unreadable-file",
        f"`{visible(name)}` is more than {deepest} folders deep",
        file=visible(name),
        help="keep the policy folder flat enough to review",
    )


def name_not_utf8(name: str) -> Diagnostic:
    """Report a file whose name is not UTF-8."""
    return diagnose(
        "not-utf8",
        f"the file name `{visible(name)}` is not UTF-8",
        file=visible(name),
        help="rename the file",
    )


def wrong_case(name: str) -> Diagnostic:
    """Report a file whose name would be right in lower case."""
    return diagnose(
        "unreadable-file",
        f"`{visible(name)}` is not read: names end in `.policy`, in lower case, and the "
        "configuration is called `placet.toml`, the pins of tools `tools.lock`",
        file=visible(name),
        help="rename it if it should be read, or remove it from the folder",
    )


def no_folder(root: str) -> Diagnostic:
    """Report that there is no folder to read."""
    what = "is not a folder" if os.path.lexists(root) else "does not exist"
    return diagnose(
        "unreadable-file",
        f"the policy folder `{visible(root, 1000)}` {what}",
        help=_GIVE,
    )


def empty_path() -> Diagnostic:
    """Report that the path is empty; it does not mean the working folder."""
    return diagnose("unreadable-file", "the path of the policy is empty", help=_GIVE)


def not_a_policy(file: str) -> Diagnostic:
    """Report a file whose name does not end in `.policy`."""
    return diagnose("unreadable-file", f"`{visible(file, 1000)}` is not a policy", help=_GIVE)


def outside_folder(name: str) -> Diagnostic:
    """Report a link that leads out of the folder."""
    return diagnose(
        "outside-folder",
        f"`{visible(name)}` is a link that leads out of the policy folder",
        file=visible(name),
        help="put the file itself into the folder, so that the whole policy is in one place",
    )


def not_regular(name: str) -> Diagnostic:
    """Report a name that is not a regular file's."""
    return diagnose(
        "unreadable-file",
        f"`{visible(name)}` is not a regular file",
        file=visible(name),
        help="pipes, sockets and devices are never opened; replace it by a file",
    )


def too_large(name: str, size: int, *, limit: int) -> Diagnostic:
    """Report a file that is too large."""
    return diagnose(
        "file-too-large",
        f"`{visible(name)}` has {size} bytes, more than {limit}",
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
    """Report the system's error for a file."""
    why = _WHY.get(problem.errno or 0, f"could not be read ({problem.strerror or 'unknown'})")
    return diagnose(
        "unreadable-file",
        f"`{visible(name)}` {why}",
        file=visible(name),
        help="remove it, or make it a file that the service can read",
    )
