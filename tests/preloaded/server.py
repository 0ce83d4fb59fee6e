"""Imports all that commands need, and forks itself for each of them until its input ends."""

from __future__ import annotations

import gc
import io
import json
import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from runpy import run_module
from typing import Any, TextIO

# What commands import inside of functions.
HEAVY = ("mcp.client", "policy.mcp", "policy.proxy", "sqlglot", "uvicorn", "watchfiles")


def main(address: str) -> None:
    import policy.cli

    modules = [f"policy.cli.{found.name}" for found in iter_modules(policy.cli.__path__)]
    for name in (*modules, *HEAVY):
        import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all that they share
    with socket.socket(socket.AF_UNIX) as listening, selectors.DefaultSelector() as events:
        listening.bind(address)
        listening.listen(64)
        os.write(1, b"1")
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 1)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        events.register(listening, selectors.EVENT_READ)
        events.register(0, selectors.EVENT_READ)
        while True:
            if any(key.fileobj == 0 for key, _ in events.select()):
                return
            connection, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                events.close()
                listening.close()
                serve(connection)
                return  # a module that has been run to its end
            connection.close()


def serve(connection: socket.socket) -> None:
    """Run one command, and tell the client how it ended; end with the command's own status."""
    message, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as rest:
        asked = json.loads(message + rest.readline())
    alive, ends_with_it = os.pipe()
    command = os.fork()
    if command == 0:
        connection.close()
        os.close(alive)
        run(asked, streams)
        return
    os.close(ends_with_it)
    for descriptor in streams:
        os.close(descriptor)
    connection.sendall(b"%d\n" % command)
    with selectors.DefaultSelector() as events:
        events.register(alive, selectors.EVENT_READ)
        events.register(connection, selectors.EVENT_READ)
        if all(key.fd != alive for key, _ in events.select()):
            os.kill(command, signal.SIGKILL)  # as the client was
    _, status = os.waitpid(command, 0)
    with suppress(BrokenPipeError):  # the client was killed
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def run(asked: dict[str, Any], received: list[int]) -> None:
    """Become what `placet` is when it starts, and run the command."""
    for descriptor in range(3):
        os.close(descriptor)
    for source, target in zip(received, asked["streams"], strict=True):
        os.dup2(source, target)
        os.close(source)
    os.chdir(asked["folder"])
    os.umask(asked["umask"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    sys.argv = [os.path.join(os.path.dirname(sys.executable), "placet"), *asked["arguments"]]
    named = os.environ.get("PYTHONPATH")
    sys.path[:0] = [asked["folder"], *(named.split(os.pathsep) if named else ())]
    streams = asked["streams"]
    sys.stdin = _stream(0, "r", "surrogateescape") if 0 in streams else None
    sys.stdout = _stream(1, "w", "surrogateescape") if 1 in streams else None
    sys.stderr = _stream(2, "w", "backslashreplace") if 2 in streams else None
    if asked["module"] == "policy":
        from policy.cli import main as placet

        placet()
    else:
        run_module(asked["module"], run_name="__main__", alter_sys=True)


def _stream(descriptor: int, mode: str, errors: str) -> TextIO:
    raw = io.FileIO(descriptor, mode, closefd=False)
    buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    lines = descriptor == 2 or os.isatty(descriptor)
    return io.TextIOWrapper(buffered, "utf-8", errors, line_buffering=lines)


if __name__ == "__main__":
    main(sys.argv[1])
