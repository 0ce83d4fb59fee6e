"""A subject's name and arguments in; the process of its own that measures it, asked over JSON, out.

Several subjects are measured in turn, a short round each, so that what else the machine does falls
on all of them and their ratios hold.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from bench.timing import Round

Rounds = dict[str, dict[str, list[list[int]]]]


class Failed(Exception):
    """A subject that gave no answer."""


class Process:
    """One subject at work in a process of its own."""

    def __init__(self, subject: str, arguments: Mapping[str, Any]) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the process)
        self._name = f"{subject} {dict(arguments)}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.worker", subject, json.dumps(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def ask(self, what: str, *, timeout: float = 180, **arguments: Any) -> Any:
        """Return what the subject's method `what` returns; raise Failed if it raises."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"do": what, "with": arguments}) + "\n")
            process.stdin.flush()
        except OSError:
            raise Failed(self._said("ended")) from None
        if not select.select([process.stdout], [], [], timeout)[0]:
            raise Failed(self._said(f"no answer to `{what}` in {timeout} s"))
        line = process.stdout.readline()
        if not line:
            raise Failed(self._said("ended"))
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _said(self, what: str) -> str:
        self._errors.seek(0)
        return f"{self._name}: {what}\n{self._errors.read()[-2000:]}"


@contextmanager
def processes(
    wanted: Mapping[str, tuple[str, Mapping[str, Any]]],
) -> Iterator[dict[str, Process]]:
    """Start a process for each `(subject, arguments)` and end them all."""
    with ExitStack() as stack:
        running = {}
        for key, (subject, arguments) in wanted.items():
            running[key] = Process(subject, arguments)
            stack.callback(running[key].close)
        yield running


def in_turn(
    running: Mapping[str, Process], *, rounds: int, seconds: float, what: str = "round"
) -> Rounds:
    """Return the nanoseconds of all calls: by subject, by what was called, by round.

    A first round warms and does not count.
    """
    found: Rounds = {key: {} for key in running}
    for number in range(rounds + 1):
        for key, process in running.items():
            taken: Round = process.ask(what, seconds=seconds if number else seconds / 2)
            if number:
                for name, nanoseconds in taken.items():
                    found[key].setdefault(name, []).append(nanoseconds)
    return found
