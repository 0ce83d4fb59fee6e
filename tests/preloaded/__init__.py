"""The command `placet` for tests, as a process that starts in a fraction of the time.

Most of a start is the import of modules. A server imports them once, and forks itself for each
command. The process that a test starts is a small client: it hands its streams, folder, environment
and arguments over, passes signals on, and ends as the command does. If it is killed, so is the
command. For tests whose subject is what a command does; those of the start itself, of imports, of
Python's options, of resource limits and of ancestors start `python -m policy`.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


def placet(*arguments: str) -> list[str]:
    """Return a command line that does what `placet` does with these arguments."""
    return module("policy", *arguments)


def module(name: str, *arguments: str) -> list[str]:
    """Return a command line that does what `python -m NAME` does with these arguments."""
    return [sys.executable, "-I", "-S", str(_HERE / "client.py"), _server(), name, *arguments]


def placet_in(folder: Path) -> None:
    """Write an executable `placet` into a folder, for a `PATH`."""
    file = folder / "placet"
    file.write_text(f'#!/bin/sh\nexec {shlex.join(placet())} "$@"\n', "utf-8")
    file.chmod(0o755)


@cache
def _server() -> str:
    """Start the server of this process, which ends with it; return the socket of the server."""
    folder = tempfile.mkdtemp(prefix="placet-")
    address = os.path.join(folder, "server")
    process = subprocess.Popen(
        [sys.executable, str(_HERE / "server.py"), address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.read(1) == b"1", "the server of preloaded commands did not start"
    process.stdout.close()

    def end() -> None:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
        shutil.rmtree(folder)

    atexit.register(end)
    return address
