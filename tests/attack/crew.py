"""Runs the attack's workers, each in its own sandbox, and sends them requests in parallel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

_ROOT = Path(__file__).resolve().parents[2]
# An empty network, and file systems that end with the worker; the rest is what is here.
_APART = (
    "bwrap", "--dev-bind", "/", "/", "--unshare-net", "--unshare-ipc", "--die-with-parent",
    "--size", str(512 << 20), "--tmpfs", "/srv", "--size", str(1 << 30), "--tmpfs", "/mnt",
)  # fmt: skip


class Worker:
    """One worker process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [*_APART, "--chdir", str(_ROOT), sys.executable, "-m", "tests.attack.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ignored: object) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("a worker has ended")
        answered: dict[str, Any] = json.loads(answer)
        return answered


def answers(requests: Iterable[dict[str, Any]], *, workers: int) -> Iterator[dict[str, Any]]:
    """Yield the answers to all requests, as they come."""
    free: SimpleQueue[Worker] = SimpleQueue()
    crew = [Worker() for _ in range(workers)]

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        worker = free.get()
        try:
            return worker.ask(request)
        finally:
            free.put(worker)

    try:
        for worker in crew:
            free.put(worker)
        with ThreadPoolExecutor(workers) as pool:
            for done in as_completed([pool.submit(ask, one) for one in requests]):
                yield done.result()
    finally:
        for worker in crew:
            worker.__exit__()
