"""A real Redis server for tests, over a socket in a folder of its own."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

_PROGRAM = shutil.which("redis-server")
# Why there can be none; None: it is installed.
MISSING = None if _PROGRAM else "`redis-server` is not installed (.ci/run installs it)"


class RedisServer:
    """A server that has started; `options` are those of its command line.

    It writes what it keeps to an append-only file, so it can be killed and started again.
    """

    def __init__(self, *options: str, folder: Path | None = None) -> None:
        # A socket's path has at most about 100 characters.
        self._made = None if folder else tempfile.TemporaryDirectory(prefix="placet-redis-")
        self.folder = folder or Path(self._made.name if self._made else "")
        self.url = f"unix://{self.folder}/redis.sock"
        self._options = options
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        assert _PROGRAM is not None
        self._process = subprocess.Popen(
            [
                _PROGRAM,
                *("--port", "0", "--unixsocket", f"{self.folder}/redis.sock"),
                *("--dir", str(self.folder), "--appendonly", "yes", "--save", ""),
                *self._options,
            ],
            stdout=subprocess.DEVNULL,
        )
        while True:
            assert self._process.poll() is None, "the server did not start"
            try:
                with self.client() as client:
                    client.ping()
                return
            except redis.AuthenticationError:
                return
            except redis.ConnectionError:
                time.sleep(0.005)

    def client(self) -> Any:
        """Return a client of the server."""
        return redis.Redis.from_url(self.url)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Have the server do nothing for a while."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the server without giving it time for anything."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the server, and remove what it kept."""
        self.kill()
        if self._made is not None:
            self._made.cleanup()
