"""The tests pass in the background of a script too, whose commands ignore interrupts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A process that a test starts, and whether an interrupt ends it.
CHILD = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
TEST = f"""
import signal, subprocess, sys
inherited = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
import tests.conftest
print("ignored" if inherited else "not ignored", flush=True)
subprocess.run([sys.executable, "-c", {CHILD!r}], check=True)
"""


def test_processes_of_tests_in_the_background_of_a_script_can_be_interrupted() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" & wait', sys.executable, TEST],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n") == ["ignored", "True", ""]
