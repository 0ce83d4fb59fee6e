"""A preloaded command does what a started one does, and ends when it would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.preloaded import module, placet
from tests.waiting import PATIENCE, runs, wait_until

ROOT = Path(__file__).resolve().parents[1]
STARTED = [str(Path(sys.executable).parent / "placet")]


def ran(command: list[str], shell: str) -> tuple[int, str, str]:
    """Return the status and streams of a shell's line in which `"$@"` is a command."""
    done = subprocess.run(
        ["sh", "-c", f"{shell}; exit $?", "sh", *command],
        cwd=ROOT / "tests" / "data",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "shell",
    [
        'echo \'{"tool": "file_read", "input": {"path": "é"}}\' | "$@" decide small_rules',
        '"$@" decide small_rules <&-',
        '"$@" check small_rules nowhere >&2',
    ],
)
def test_it_prints_and_ends_as_one_that_was_started(shell: str) -> None:
    assert ran(placet(), shell) == ran(STARTED, shell)


def interpreter(*lines: str) -> subprocess.Popen[str]:
    """Start a Python that reads lines, with some of them in its input."""
    process = subprocess.Popen(
        module("code", "-q"), stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    process.stdin.write("".join(f"{line}\n" for line in ("import os, signal", *lines)))
    process.stdin.flush()
    return process


def test_a_module_that_comes_to_its_end_has_ended_well() -> None:
    with interpreter() as process:
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_a_signal_that_ends_it_is_how_its_client_ends() -> None:
    with interpreter("os.kill(os.getpid(), signal.SIGKILL)") as process:
        assert process.wait(60) == -signal.SIGKILL


def test_it_ends_when_its_client_is_killed() -> None:
    with interpreter("print('process', os.getpid(), flush=True)") as process:
        assert process.stdout is not None
        command = int(process.stdout.readline().rpartition(" ")[2])
        os.kill(command, 0)
        process.kill()
        process.wait()
        wait_until(lambda: not runs(command))
