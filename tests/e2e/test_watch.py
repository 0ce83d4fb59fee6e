"""`check --watch` and `test --watch` as processes: edits are followed, and Ctrl-C ends them."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.e2e.test_cli import ENV
from tests.preloaded import placet

GOOD = """\
policy for every agent

default deny
read: allow file_read when reads only "/srv/**"

test "reading"
  file_read {path: "/srv/a"} -> allow by read
"""
FAILING = GOOD.replace("-> allow by read", "-> deny")
MISSPELT = GOOD.replace("allow file_read", "allow file_raed")


@contextmanager
def watching(command: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a command with `--watch`; both of its streams are one."""
    process = subprocess.Popen(
        placet(command, str(path), "--watch"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=ENV,
        text=True,
    )
    try:
        with process:
            yield process
    finally:
        process.kill()


def replace(file: Path, text: str) -> None:
    """Save a file in one step, so that half of the edit is never seen."""
    fresh = file.with_name("fresh")
    fresh.write_text(text)
    os.replace(fresh, file)


def report(stream: IO[str] | None) -> str:
    """Return what one run prints, up to the line that ends it."""
    assert stream is not None
    lines: list[str] = []
    for line in stream:
        if line.startswith("watching "):
            return "".join(lines)
        lines.append(line)
    pytest.fail(f"ended after: {''.join(lines)}")


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Press Ctrl-C, and return the exit status and what is still printed."""
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    return process.returncode, rest


def test_check_follows_edits_and_ends_with_the_status_of_its_last_run(tmp_path: Path) -> None:
    file = tmp_path / "global.policy"
    file.write_text(GOOD)
    with watching("check", tmp_path) as process:
        assert report(process.stdout) == "fine: 1 policy file, 1 test case passed\n"
        replace(file, MISSPELT)
        assert "error[unknown-tool]" in report(process.stdout)
        assert ended(process) == (1, "")


def test_test_follows_edits(tmp_path: Path) -> None:
    file = tmp_path / "global.policy"
    file.write_text(FAILING)
    with watching("test", tmp_path) as process:
        assert report(process.stdout).endswith("0 passed, 1 failed\n")
        replace(file, GOOD)
        assert report(process.stdout) == "1 passed, 0 failed\n"
        assert ended(process) == (0, "")


def test_a_single_file_is_watched_and_may_go_and_come(tmp_path: Path) -> None:
    file = tmp_path / "one.policy"
    file.write_text(GOOD)
    with watching("check", file) as process:
        assert report(process.stdout).startswith("fine: 1 policy file")
        file.unlink()
        assert "error[" in report(process.stdout)
        replace(file, GOOD)
        assert report(process.stdout).startswith("fine: 1 policy file")
        assert ended(process) == (0, "")


def test_the_end_of_a_reader_ends_it(tmp_path: Path) -> None:
    file = tmp_path / "global.policy"
    file.write_text(GOOD)
    with watching("check", tmp_path) as process:
        report(process.stdout)
        assert process.stdout is not None
        process.stdout.close()
        replace(file, FAILING)
        assert process.wait(timeout=60) == 141


def test_a_terminal_is_cleared_before_each_run(tmp_path: Path) -> None:
    (tmp_path / "global.policy").write_text(GOOD)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        placet("check", str(tmp_path), "--watch"), stdout=theirs, stderr=theirs, env=ENV
    )
    os.close(theirs)
    try:
        seen = b""
        while b"Ctrl-C ends" not in seen:
            seen += os.read(ours, 1000)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        os.close(ours)
    assert seen.startswith(b"\x1b[2J\x1b[1;1H")
    assert b"fine: 1 policy file" in seen


@pytest.mark.parametrize("command", ["check", "test"])
def test_only_text_can_be_watched(tmp_path: Path, command: str) -> None:
    (tmp_path / "global.policy").write_text(GOOD)
    done = subprocess.run(
        placet(command, str(tmp_path), "--watch", "--format", "json"),
        env=ENV,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("Error: --watch shows text only.\n")
