"""Programs of ours that every command waits for start fast."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import policy

# Each takes longer than all that these programs do themselves.
SLOW = {"asyncio", "enum", "json", "re", "signal", "socket", "subprocess", "typing"}


@pytest.mark.parametrize(
    "program",
    ["processes/supervisor.py", "sandbox/landlock_start.py", "sandbox/network/listen_inside.py"],
)
def test_they_import_little(program: str) -> None:
    file = Path(policy.__file__).parent / program
    # Without arguments, they fail as soon as everything is imported.
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", file], capture_output=True, text=True
    )
    lines = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip() for line in lines}
    assert "os" in imported
    assert not imported & SLOW
