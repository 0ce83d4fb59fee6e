"""A limit holds over all processes that share its file, also while the policy is edited."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from policy.service import SqliteSessionLog

RULES = """policy for every agent

default deny
tools: allow append
few: limit append to {most} per day
"""
WORKER = Path(__file__).parent / "limited_worker.py"


def run(folder: Path, *, processes: int, calls: int, most: int, reload_at: int) -> Counter[str]:
    """Make calls in several processes at once; return how they ended."""
    (folder / "rules").mkdir()
    (folder / "rules" / "all.policy").write_text(RULES.format(most=most))
    SqliteSessionLog(folder / "history.sqlite").close()
    started = [
        subprocess.Popen(
            [sys.executable, WORKER, folder, str(process), str(calls), str(reload_at)],
            stdout=subprocess.PIPE,
        )
        for process in range(processes)
    ]
    ended: Counter[str] = Counter()
    for one in started:
        printed, _ = one.communicate(timeout=300)
        assert one.returncode == 0
        ended.update(json.loads(printed))
    return ended


@pytest.mark.long
def test_of_4000_calls_in_8_processes_exactly_500_run(tmp_path: Path) -> None:
    ended = run(tmp_path, processes=8, calls=500, most=500, reload_at=30)
    assert ended == {"ran": 500, "limit-reached": 3_500}


def test_of_60_calls_in_2_processes_exactly_20_run(tmp_path: Path) -> None:
    ended = run(tmp_path, processes=2, calls=30, most=20, reload_at=5)
    assert ended == {"ran": 20, "limit-reached": 40}
