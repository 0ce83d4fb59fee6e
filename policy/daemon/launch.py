"""Starts the daemon of a policy, one at a time, and waits until it listens."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from policy.daemon.endpoint import DaemonFiles
from policy.processes import isolated


def start(endpoint: DaemonFiles, policy: str, is_there: Callable[[], bool]) -> None:
    """Return once a daemon listens; of several clients at the same time, the first starts it.

    Raises OSError where none could be started.
    """
    with _alone(endpoint.starting):
        if is_there():
            return
        _start(endpoint, policy)


@contextmanager
def _alone(lock: str) -> Iterator[None]:
    """Hold a lock file during the block; the system releases it if this process is killed."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _start(endpoint: DaemonFiles, policy: str) -> None:
    """Start the daemon as a separate process, and wait until it listens or ends."""
    ready, said = os.pipe()
    try:
        with open(endpoint.log, "wb", opener=_private) as log:
            # Our own interpreter and module, and no shell.
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, *isolated(), "-m", "policy.daemon", policy, str(said)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=(said,),
                start_new_session=True,
                cwd="/",
            )
    finally:
        os.close(said)
    with os.fdopen(ready, "rb") as stream:
        listens = stream.read(1) == b"1"
        if listens:
            process.returncode = 0  # it outlives us, and nobody waits for it
        else:
            process.kill()
            process.wait()
            raise OSError(f"the daemon did not start: {endpoint.log} tells more")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
