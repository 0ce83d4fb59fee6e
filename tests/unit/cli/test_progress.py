"""How far long work has come is shown at a terminal, and nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from policy.cli.progress import progress_line
from tests.unit.cli.running import run


def test_a_terminal_shows_how_much_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_line("proved", "claims") as progress:
        assert progress is not None
        progress(0, 2)
        progress(1, 2)
    shown = capsys.readouterr()
    lines = [line for line in shown.err.replace("\033[K", "").split("\r") if line]
    assert lines == ["proved 0 of 2 claims", "proved 1 of 2 claims"]
    assert shown.err.endswith("\r\033[K")
    assert shown.out == ""


@pytest.mark.parametrize("options", [(), ("--dead",)])
def test_a_program_that_reads_the_output_sees_no_progress(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    file = tmp_path / "one.policy"
    file.write_text("policy for every agent\ndefault deny\nprove never allow file_read\n")
    ended = run("prove", str(file), *options)
    assert ended.err == ""
