"""A hook call in, the daemon's answer out; it is started where there is none."""

from __future__ import annotations

import socket
from typing import Any

from policy.daemon.exchange import (
    LONGEST_LINE,
    Answer,
    Malformed,
    Request,
    answer_in,
    line_of,
    message_in,
)
from policy.daemon.peer import is_ours
from policy.daemon.place import Place, identity, place_for


class NoDaemon(Exception):
    """Nobody answered, and why."""


class _Another(Exception):
    """The daemon that answered is of another version, or has another policy; it ends."""


def ask_daemon(request: Request) -> Answer:
    """Return the daemon's answer; start it where there is none. Raises NoDaemon and OSError."""
    place = place_for(request.policy)
    try:
        return _asked(place, request)
    except (FileNotFoundError, ConnectionRefusedError, _Another):
        from policy.daemon.starting import start

        start(place, request.policy, lambda: _is_there(place, request.policy))
    try:
        return _asked(place, request)
    except _Another as error:
        raise NoDaemon("a daemon of another version is in the way") from error


def told(where: str, kind: str) -> dict[str, Any]:
    """Return a daemon's answer to `status` or `stop`; raises NoDaemon and OSError."""
    try:
        return _exchanged(where, line_of(kind))
    except Malformed as error:
        raise NoDaemon(f"it answered wrongly: {error}") from error


def _asked(place: Place, request: Request) -> Answer:
    line = line_of("ask", identity=identity(request.policy), **request._asdict())
    try:
        message = _exchanged(place.socket, line)
        if message["kind"] == "another":
            raise _Another("another version or policy")
        return answer_in(message)
    except Malformed as error:
        raise NoDaemon(f"its answer cannot be read: {error}") from error


def _is_there(place: Place, policy: str) -> bool:
    """Tell whether a daemon of this version answers for this policy."""
    try:
        said = _exchanged(place.socket, line_of("status", identity=identity(policy)))
    except (OSError, Malformed, NoDaemon):
        return False
    return bool(said["kind"] == "status")


def _exchanged(where: str, line: bytes) -> dict[str, Any]:
    """Send one line, and return the message that comes back."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(where)
        if not is_ours(connection):
            raise NoDaemon("the socket belongs to another user")
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        return message_in(_line(connection))


def _line(connection: socket.socket) -> bytes:
    """Read one line; raise NoDaemon where the connection ends before it does."""
    parts: list[bytes] = []
    size = 0
    while part := connection.recv(65_536):
        parts.append(part)
        size += len(part)
        if size > LONGEST_LINE:
            raise NoDaemon("its answer is too long")
    whole = b"".join(parts)
    if not whole.endswith(b"\n"):
        raise NoDaemon("it ended before it had answered")
    return whole
