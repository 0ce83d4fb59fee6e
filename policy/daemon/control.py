"""The daemons that there are: what each says of itself, and how to end one."""

from __future__ import annotations

from typing import Any, NamedTuple


class DaemonStatus(NamedTuple):
    """What one daemon says of itself; `problem` is why it does not answer, None where it does.

    `projects` are the folders it has decided calls for, with the state of the policy for each.
    """

    socket: str
    problem: str | None = None
    pid: int = 0
    policy: str = ""
    seconds: int = 0
    calls: int = 0
    projects: tuple[dict[str, Any], ...] = ()


def daemons() -> list[DaemonStatus]:
    """Return the daemons of this user; raise OSError where their folder cannot be used."""
    from policy.daemon.place import PlaceUnusable, sockets

    try:
        found = sockets()
    except PlaceUnusable as error:
        raise OSError(str(error)) from error
    return [status for socket in found if (status := _status(socket)) is not None]


def stop_daemon(daemon: DaemonStatus) -> str | None:
    """End a daemon; return why it does not end, None where it does."""
    from policy.daemon.client import NoDaemon, told

    try:
        told(daemon.socket, "stop")
    except (OSError, NoDaemon) as error:
        return str(error)
    return None


def _status(socket: str) -> DaemonStatus | None:
    """Return the status of a daemon, None where one was killed and left its socket behind."""
    from policy.daemon.client import NoDaemon, told

    try:
        said: dict[str, Any] = told(socket, "status")
        return DaemonStatus(
            socket=socket,
            pid=int(said["pid"]),
            policy=str(said["policy"]),
            seconds=int(said["seconds"]),
            calls=int(said["calls"]),
            projects=tuple(said["projects"]),
        )
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    except (OSError, NoDaemon, KeyError, TypeError, ValueError) as error:
        return DaemonStatus(socket=socket, problem=str(error))
