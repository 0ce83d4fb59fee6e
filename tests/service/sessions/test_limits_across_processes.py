"""A limit holds over all processes that share its store, also while the policy is edited."""

from __future__ import annotations

import json
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from policy.generation import HistorySettings
from policy.model import Caller
from policy.service import open_stored_log
from tests.preloaded import module
from tests.redis_server import RedisServer
from tests.waiting import PATIENCE

RULES = """policy for every agent

default deny
tools: allow append
few: limit append to {most} per day
"""
ROOT = Path(__file__).parents[3]


def worker(folder: Path, kept: str, process: int, calls: int, reload_at: int) -> Popen[bytes]:
    """Start a process that makes calls, and prints how they ended."""
    arguments = (str(folder), kept, str(process), str(calls), str(reload_at))
    return Popen(module("tests.service.sessions.limited_worker", *arguments), stdout=PIPE, cwd=ROOT)


@pytest.fixture(params=["sqlite", "redis"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a store that processes share."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    server: RedisServer = request.getfixturevalue("redis_server")
    return server.url


def run(
    folder: Path, kept: str, *, processes: int, calls: int, most: int, reload_at: int
) -> Counter[str]:
    """Make calls in several processes at once; return how they ended."""
    (folder / "rules").mkdir()
    (folder / "rules" / "all.policy").write_text(RULES.format(most=most))
    open_stored_log(kept, HistorySettings()).close()
    started = [worker(folder, kept, each, calls, reload_at) for each in range(processes)]
    ended: Counter[str] = Counter()
    for one in started:
        printed, _ = one.communicate(timeout=300)
        assert one.returncode == 0
        ended.update(json.loads(printed))
    return ended


@pytest.mark.long
def test_of_4000_calls_in_8_processes_exactly_500_run(tmp_path: Path, kept: str) -> None:
    ended = run(tmp_path, kept, processes=8, calls=500, most=500, reload_at=30)
    assert ended == {"ran": 500, "limit-reached": 3_500}


def test_of_60_calls_in_2_processes_exactly_20_run(tmp_path: Path, kept: str) -> None:
    ended = run(tmp_path, kept, processes=2, calls=30, most=20, reload_at=5)
    assert ended == {"ran": 20, "limit-reached": 40}


def test_a_call_whose_process_was_killed_is_charged_and_runs_for_good(
    tmp_path: Path, kept: str
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "all.policy").write_text(RULES.format(most=1))
    with worker(tmp_path, kept, -1, 1, 9) as killed:
        killed.communicate(timeout=PATIENCE)
    assert killed.returncode == -signal.SIGKILL
    history = open_stored_log(kept, HistorySettings())
    with closing(history):
        (calls,) = history.history(Caller(session="s-1", user="u2")).tools.values()
    assert (calls.succeeded.latest, calls.unsure.latest is None) == (None, False)
    with worker(tmp_path, kept, 0, 1, 9) as after:
        printed, _ = after.communicate(timeout=PATIENCE)
    assert json.loads(printed) == {"limit-reached": 1}
