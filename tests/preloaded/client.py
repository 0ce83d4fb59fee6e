"""Has the server run a command with the streams of this process, and ends as that command does."""

import json
import os
import signal
import socket
import sys
from contextlib import suppress

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(address: str, module: str, *arguments: str) -> None:
    streams = [descriptor for descriptor in (0, 1, 2) if _is_open(descriptor)]
    asked = {
        "streams": streams,
        "module": module,
        "arguments": arguments,
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "umask": os.umask(0),
    }
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    with connection, connection.makefile("rb") as answers:
        message = json.dumps(asked).encode() + b"\n"
        if streams:
            socket.send_fds(connection, [message[:1]], streams)
            message = message[1:]
        connection.sendall(message)
        _leave(streams)
        command = json.loads(answers.readline())
        for number in PASSED_ON:
            signal.signal(number, lambda given, _: _pass_on(command, given))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        status = json.loads(answers.readline())
    if status < 0:
        if -status in PASSED_ON:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _leave(streams: list[int]) -> None:
    """Keep no stream open that the command may close."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in streams:
        os.dup2(nothing, descriptor)


def _pass_on(command: int, number: int) -> None:
    with suppress(ProcessLookupError):  # it has ended, and the server's next line says how
        os.kill(command, number)


if __name__ == "__main__":
    main(*sys.argv[1:])
