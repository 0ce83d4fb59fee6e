"""`ProofProcess`: a process of our own that proves and compares while this one decides calls."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any

from policy.diagnostics import visible
from policy.processes import isolated, named_environment
from policy.store.proving.request import DONE, Request, sent

# Other packages are found as Python finds them; ours may lie elsewhere.
_START = (
    "import sys; root = sys.argv[1]; root in sys.path or sys.path.append(root); "
    "from policy.store.proving.child import main; main()"
)
_ROOT = os.path.abspath(__file__).rsplit(os.sep, 4)[0]
_PAUSE = 0.2  # seconds between two looks at whether the answers are still wanted
_LAST_WORDS = 2_000  # bytes


class ProofsEnded(Exception):
    """The process ended before it had answered everything; the message says how."""


class ProofsUnwanted(Exception):
    """Nobody waits for the answers any more: the files were edited."""


class ProofProcess:
    """Starts the process when it is asked something, and keeps it for the next request.

    It has an environment of four variables and no other descriptors, and ends with this process,
    even if that is killed. Threads take turns.
    """

    def __init__(self) -> None:
        self._running: _Running | None = None
        self._turn = Lock()

    def ask(self, request: Request, *, is_wanted: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        """Yield the answers as they come; raise ProofsEnded, or ProofsUnwanted when they are."""
        with self._turn:
            running = self._running_or_new(request.does)
            is_done = False
            try:
                running.send(request)
                for line in running.lines(is_wanted):
                    answer = _read(line, request.does)
                    if answer == DONE:
                        is_done = True
                        return
                    yield answer
                raise ProofsEnded(running.ending(request.does))
            finally:
                if not is_done:
                    self.end()

    def end(self) -> None:
        """End the process, if there is one."""
        running, self._running = self._running, None
        if running is not None:
            running.end()

    def _running_or_new(self, does: str) -> _Running:
        running = self._running
        if running is not None and running.process.poll() is not None:
            self.end()  # nothing was asked for a while
        if self._running is None:
            self._running = _Running.start(does)
            # A store that is no longer used leaves no process behind.
            weakref.finalize(self, self._running.end)
        return self._running


@dataclass(frozen=True, slots=True)
class _Running:
    """The running process, and what it writes to standard error."""

    process: subprocess.Popen[bytes]
    input: IO[bytes]
    output: IO[bytes]
    errors: IO[bytes]

    @staticmethod
    def start(does: str) -> _Running:
        errors = TemporaryFile()  # noqa: SIM115 — open as long as the process runs
        try:
            # Our own interpreter and module, and no shell.
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, *isolated(), "-c", _START, _ROOT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=named_environment(),
                cwd="/",
            )
        except OSError as error:
            errors.close()
            raise ProofsEnded(f"the process that {does} did not start: {error}") from error
        assert process.stdin is not None and process.stdout is not None
        return _Running(process, process.stdin, process.stdout, errors)

    def send(self, request: Request) -> None:
        # If it has ended meanwhile, the end of its output tells.
        with suppress(OSError):
            self.input.write(sent(request))
            self.input.flush()

    def lines(self, is_wanted: Callable[[], bool]) -> Iterator[bytes]:
        """Yield each whole line until the output ends."""
        rest, looked = b"", time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self.output, selectors.EVENT_READ)
            while True:
                is_ready = selector.select(_PAUSE)
                if time.monotonic() - looked >= _PAUSE:
                    if not is_wanted():
                        raise ProofsUnwanted
                    looked = time.monotonic()
                if is_ready:
                    part = os.read(self.output.fileno(), 65_536)
                    if not part:
                        return
                    *whole, rest = (rest + part).split(b"\n")
                    yield from whole

    def ending(self, does: str) -> str:
        """Return how the process ended, with the last line that it wrote about it."""
        status = self.process.wait()
        if status < 0:
            with suppress(ValueError):
                return f"the process that {does} was ended by {signal.Signals(-status).name}"
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(size - _LAST_WORDS, 0))
        said = self.errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        ended = f"the process that {does} ended with the status {status}"
        return f"{ended}: {visible(said, 200)}" if said else ended

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.input, self.output, self.errors):
            with suppress(OSError):
                stream.close()


def _read(line: bytes, does: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ProofsEnded(f"the process that {does} answered with something else")
    return found
