"""Where the daemon of a policy listens: a socket in a folder that only this user can enter."""

from __future__ import annotations

import os
import stat
import sys
from zlib import crc32

from policy.version import VERSION

_SOCKET = ".sock"


class EndpointUnusable(Exception):
    """The folder for the socket cannot be created, or other users could enter it."""


class DaemonFiles:
    """The files of the daemon for the policy at an absolute path.

    `socket` is what it listens on, `lock` what it holds while it lives, `starting` what a client
    holds while it starts one, `log` what it writes to standard error. Makes the folder where there
    is none yet. Raises EndpointUnusable.
    """

    def __init__(self, policy: str) -> None:
        folder = _folder()
        _make(folder)
        # Short, since the path of a socket must be. Policies that happen to share a name take
        # turns: each daemon ends when it is asked about another policy than its own.
        name = os.path.join(folder, f"{crc32(os.fsencode(policy)):08x}")
        self.socket = name + _SOCKET
        self.lock = f"{name}.lock"
        self.starting = f"{name}.starting"
        self.log = f"{name}.log"

    @property
    def files(self) -> list[str]:
        """All of them."""
        return [self.socket, self.lock, self.starting, self.log]


def identity(policy: str) -> str:
    """Return what a daemon and its clients must have in common: the program and the policy."""
    program = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return "\n".join((VERSION, sys.version, program, policy))


def sockets() -> list[str]:
    """Return the sockets of all daemons that this user may have; raises EndpointUnusable."""
    folder = _folder()
    if not os.path.lexists(folder):
        return []
    _require_ours(folder)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if _is_socket(name)]


def _is_socket(name: str) -> bool:
    return name.endswith(_SOCKET)


def _folder() -> str:
    """Return the folder of this user's sockets."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.path.isdir(runtime):
        return os.path.join(runtime, "placet")
    return os.path.join(_temporary(), f"placet-{os.geteuid()}")


def _temporary() -> str:
    """Return the folder for temporary files; the per-user one of macOS is named by a variable."""
    named = os.environ.get("TMPDIR", "") if sys.platform == "darwin" else ""
    return named if os.path.isabs(named) else "/tmp"  # noqa: S108 - its owner and mode are checked


def _make(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise EndpointUnusable(f"{folder} cannot be made: {error.strerror}") from error
    _require_ours(folder)


def _require_ours(folder: str) -> None:
    """Raise EndpointUnusable unless this is a real folder of ours that nobody else may enter."""
    try:
        found = os.lstat(folder)
    except OSError as error:
        raise EndpointUnusable(f"{folder} cannot be looked at: {error.strerror}") from error
    if not stat.S_ISDIR(found.st_mode):
        raise EndpointUnusable(f"{folder} is not a folder")
    if found.st_uid != os.geteuid():
        raise EndpointUnusable(f"{folder} belongs to another user")
    if found.st_mode & 0o077:
        raise EndpointUnusable(f"{folder} is open to other users: its mode must be 0700")
