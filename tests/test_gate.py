"""The gate on counts, on a version of Python for which no counts were accepted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("options", "code"), [(["--counts"], 0), pytest.param([], 1, marks=pytest.mark.long)]
)
def test_counts_of_another_python_are_compared_with_nothing(
    options: list[str], code: int, tmp_path: Path
) -> None:
    accepted = tmp_path / "gate.json"
    accepted.write_text('{"CPython 2.7": {}}')
    done = subprocess.run(
        [sys.executable, "-m", "bench.gate", "--file", str(accepted), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, "")
    assert "no numbers were accepted for" in done.stdout
