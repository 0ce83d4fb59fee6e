"""Whether the process at the other end of a socket belongs to this user."""

from __future__ import annotations

import os
import socket
import sys

_HAS_XUCRED = sys.platform.startswith(("darwin", "freebsd"))


def is_ours(connection: socket.socket) -> bool:
    """Return whether this user runs the other end; False if the system cannot tell."""
    try:
        return _uid(connection) == os.geteuid()
    except OSError:
        return False


def _uid(connection: socket.socket) -> int:
    """Return the user id of the other end; raise OSError if it is unknown."""
    credentials = getattr(socket, "SO_PEERCRED", None)
    if credentials is not None:
        # Linux: struct ucred of pid, uid and gid.
        option = connection.getsockopt(socket.SOL_SOCKET, credentials, 12)
        return int.from_bytes(option[4:8], sys.byteorder)
    if _HAS_XUCRED:
        # macOS and FreeBSD: struct xucred of version, uid and groups; LOCAL_PEERCRED at level 0.
        option = connection.getsockopt(0, 1, 76)
        if len(option) >= 8 and int.from_bytes(option[:4], sys.byteorder) == 0:
            return int.from_bytes(option[4:8], sys.byteorder)
    raise OSError("this system does not tell who is at the other end of a socket")
