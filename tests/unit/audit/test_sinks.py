"""An audit file that several processes write to, that fails, and that is moved away."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from policy.audit import AuditFileUnfit, JsonlSink
from policy.audit.sinks import appending
from tests.preloaded import module
from tests.unit.audit.records import record

ROOT = Path(__file__).resolve().parents[3]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def told(path: Path) -> list[tuple[str, str, str | None]]:
    """Return what is on record: event, call, outcome."""
    return [(line["event"], line["id"], line["outcome"]) for line in lines(path)]


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(os.path.relpath(path))
    bound.close()


def _device(path: Path) -> None:
    path.symlink_to("/dev/null")


def _linked_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


UNFIT = {
    "a folder": _folder,
    "a named pipe": _pipe,
    "a socket": _socket,
    "a device": _device,
    "a link to a named pipe": _linked_pipe,
}


@pytest.mark.parametrize("what", UNFIT)
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "audit.jsonl"
    UNFIT[what](path)
    with pytest.raises(AuditFileUnfit, match=what.removeprefix("a link to ")):
        JsonlSink(path)


@pytest.mark.parametrize("what", UNFIT)
def test_what_takes_the_place_of_the_file_later_takes_no_record(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "audit.jsonl"
    sink = JsonlSink(path)
    UNFIT[what](path)
    with pytest.raises(OSError):  # noqa: PT011 - the system's own words, or ours
        sink.write(record())
    with pytest.raises(OSError):  # noqa: PT011
        sink.write_start(record(), durable=True)


def test_a_link_to_a_regular_file_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "audit.jsonl").symlink_to("real")
    JsonlSink(tmp_path / "audit.jsonl").write(record())
    assert told(tmp_path / "real") == [("end", "1", "ok")]


@pytest.mark.parametrize("room", [0, 200_000])
def test_processes_do_not_cut_each_others_lines(tmp_path: Path, room: int) -> None:
    path = tmp_path / "audit.jsonl"
    writers = [
        subprocess.Popen(
            module(
                "tests.unit.audit.one_of_several", str(path), name, str(room if name != "d" else 0)
            ),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abcd"
    ]
    failed = {writer.communicate(timeout=120)[0].strip() for writer in writers}
    written = told(path)
    assert len(written) == len(set(written))
    assert {name for name in "abcd" if ("end", f"{name}-199", "ok") in written} >= {"d"}
    if room == 0:
        assert failed == {"0"}
        assert len(written) == 4 * 200 * 2
    else:
        assert len(failed) > 1


def test_half_a_line_of_a_crash_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text('{"event":"end","id":"0"')
    JsonlSink(path).write(record(id="1"))
    assert json.loads(path.read_text().splitlines()[1])["id"] == "1"


def test_somebody_who_keeps_the_lock_does_not_hold_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "_LOCK_SECONDS", 0.05)
    path = tmp_path / "audit.jsonl"
    path.touch()
    with path.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="could not be locked"):
            JsonlSink(path).write(record())
    JsonlSink(path).write(record())
    assert len(lines(path)) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A process with one running call."""

    client: subprocess.Popen[str]
    process: int

    def kill(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        self.client.communicate()


def started(path: Path, then: str = "pass", *, call: str = "running") -> Running:
    """Start a process with one running call, and wait for it to be there."""
    client = subprocess.Popen(
        module("tests.unit.audit.running_call", str(path), then, call),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None
    return Running(client=client, process=int(client.stdout.readline()))


def test_calls_of_a_killed_process_are_closed_once(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    started(path).kill()
    assert JsonlSink(path).close_interrupted() == 1
    assert JsonlSink(path).close_interrupted() == 0
    assert [line for line in told(path) if line[1] == "running"] == [
        ("start", "running", None),
        ("end", "running", "interrupted"),
    ]
    start, end = [line for line in lines(path) if line["id"] == "running"]
    assert (end["code"], end["latency_ms"], "run" in end) == ("interrupted", None, False)
    assert end["message"] == "the service ended while the tool ran; its effect is not known"
    same = start.keys() - {"event", "run", "outcome", "error", "code", "message"}
    assert {name: start[name] for name in same} == {name: end[name] for name in same}
    assert os.listdir(tmp_path / "audit.jsonl.runs") == []


def test_an_input_that_looks_like_a_start_is_none(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    told_by = "input=freeze({'headers': {'event': 'start', 'run': 'x', 'id': 'y'}})"
    wrote = f"from policy.model import freeze; sink.write(record(id='running', {told_by}))"
    started(path, wrote).kill()
    assert '"event":"start"' in path.read_text().splitlines()[-1]
    assert JsonlSink(path).close_interrupted() == 0
    assert told(path)[-1] == ("end", "running", "ok")


def test_calls_of_a_living_process_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    gone, living = started(path, call="a"), started(path, call="b")
    gone.kill()
    assert JsonlSink(path).close_interrupted() == 1
    living.kill()
    assert JsonlSink(path).close_interrupted() == 1
    assert [line[1] for line in told(path) if line[2] == "interrupted"] == ["a", "b"]


def test_a_call_of_ones_own_is_never_closed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    sink = JsonlSink(path)
    sink.write_start(record(id="mine"), durable=False)
    assert (sink.close_interrupted(), JsonlSink(path).close_interrupted()) == (0, 0)
    sink.write(record(id="mine"))
    assert told(path) == [("start", "mine", None), ("end", "mine", "ok")]


MOVED = "os.rename(path, path + '.1')"
MORE = "sink.write(record(id='later', outcome='denied'))"
ROTATIONS = {
    "renamed": MOVED,
    "renamed before another record": f"{MOVED}; {MORE}",
    "renamed twice": f"{MOVED}; {MORE}; os.rename(path, path + '.2')",
    "removed after another record": f"{MOVED}; {MORE}; os.remove(path + '.1')",
    "copied and emptied": f"os.truncate(path, 0); {MORE}",
}


@pytest.mark.parametrize("how", ROTATIONS)
def test_a_rotation_loses_no_running_call(tmp_path: Path, how: str) -> None:
    path = tmp_path / "audit.jsonl"
    started(path, ROTATIONS[how]).kill()
    assert JsonlSink(path).close_interrupted() == 1
    assert told(path)[-1] == ("end", "running", "interrupted")


def test_a_call_that_ended_after_a_rotation_is_not_closed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    started(path, f"{MOVED}; sink.write(record(id='running'))").kill()
    assert JsonlSink(path).close_interrupted() == 0
    assert ("end", "running", "ok") in told(path)


def test_lines_of_other_versions_and_of_crashes_are_no_running_calls(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    older = {"id": "old", "at": "2026-01-01T00:00:00Z", "outcome": "ok"}
    path.write_text(f"{json.dumps(older)}\nno JSON\n[1]\n" + '{"event":"start","id":"x"}\n')
    started(path, "os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b'{\"event\":')").kill()
    assert JsonlSink(path).close_interrupted() == 1
    last = path.read_text().splitlines()[-1]
    assert json.loads(last)["id"] == "running"


def test_a_call_that_could_not_be_closed_is_closed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.jsonl"
    started(path).kill()

    def full(handle: int, line: bytes) -> int:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="full"):
            JsonlSink(path).close_interrupted()
    assert JsonlSink(path).close_interrupted() == 1


def test_several_who_start_at_once_close_a_call_once(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for running in [started(path, call=name) for name in "abc"]:
        running.kill()
    closed: list[int] = []
    barrier = threading.Barrier(4)

    def close() -> None:
        barrier.wait()
        closed.append(JsonlSink(path).close_interrupted())

    threads = [threading.Thread(target=close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(closed) == 3
    assert [line[2] for line in told(path)].count("interrupted") == 3


def test_a_process_that_ends_in_order_leaves_no_marker(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    running = started(path, "sink.write(record(id='running')); print(1); raise SystemExit")
    running.client.communicate()
    assert not (tmp_path / "audit.jsonl.runs").exists()


def test_where_no_marker_may_be_made_starts_are_kept_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: Path, mode: int = 0o777, **more: bool) -> None:
        raise PermissionError(errno.EACCES, "not yours", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    sink = JsonlSink(tmp_path / "audit.jsonl")
    sink.write_start(record(id="1"), durable=True)
    sink.write(record(id="1"))
    assert told(tmp_path / "audit.jsonl") == [("start", "1", None), ("end", "1", "ok")]
    assert sink.close_interrupted() == 0
    assert "killed calls will not be closed" in caplog.text


FORKED = """
child = os.fork()
if child == 0:
    sink.write_start(record(id="of the child"), durable=False)
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
"""


def test_a_process_that_was_forked_off_has_calls_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    running = started(path, FORKED)
    assert JsonlSink(path).close_interrupted() == 1
    assert told(path)[-1] == ("end", "of the child", "interrupted")
    running.kill()
    assert JsonlSink(path).close_interrupted() == 1


@pytest.mark.parametrize("durable", [True, False])
def test_a_start_is_on_the_disk_where_that_is_asked_for(
    tmp_path: Path, *, durable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.jsonl"
    path.touch()
    synced: list[str] = []
    real: Callable[[int], None] = os.fsync

    def sync(handle: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        real(handle)

    monkeypatch.setattr(os, "fsync", sync)
    sink = JsonlSink(path)
    sink.write_start(record(id="1"), durable=durable)
    assert (str(path) in synced) is durable
