"""Asks the daemon over its socket, and starts one if none runs."""

from __future__ import annotations

import socket

from policy.daemon.endpoint import DaemonFiles, identity
from policy.daemon.peer import is_ours
from policy.daemon.protocol import LONGEST_LINE, Malformed, line_of, message_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policy.daemon.protocol import Message


class NoDaemon(Exception):
    """No daemon answered; the message gives the reason."""


def ask_daemon(request: Message) -> Message:
    """Return the daemon's answer; start a daemon if none runs.

    Raises NoDaemon, EndpointUnusable and OSError.
    """
    endpoint, who = DaemonFiles(request["policy"]), identity(request["policy"])
    line = line_of({**request, "kind": "ask", "identity": who})
    try:
        answer = exchange(endpoint.socket, line)
    except (FileNotFoundError, ConnectionRefusedError):
        answer = None
    if answer is None or answer["kind"] == "another":
        from policy.daemon.launch import start

        start(endpoint, request["policy"], lambda: _is_there(endpoint, who))
        answer = exchange(endpoint.socket, line)
    if answer["kind"] != "answer":
        raise NoDaemon(f"it said {answer['kind']}")
    return answer


def exchange(where: str, line: bytes) -> Message:
    """Send one line to the daemon at a socket, and return the message that comes back.

    Raises NoDaemon and OSError.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(where)
        if not is_ours(connection):
            raise NoDaemon("the socket belongs to another user")
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        try:
            return message_in(_line(connection))
        except Malformed as error:
            raise NoDaemon(f"its answer cannot be read: {error}") from error


def _is_there(endpoint: DaemonFiles, who: str) -> bool:
    """Return whether a daemon of this version answers for this policy."""
    try:
        said = exchange(endpoint.socket, line_of({"kind": "status", "identity": who}))
    except (OSError, NoDaemon):
        return False
    return bool(said["kind"] == "status")


def _line(connection: socket.socket) -> bytes:
    """Read one line; raise NoDaemon if the connection ends before the line."""
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
