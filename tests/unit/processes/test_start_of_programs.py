"""Programs of ours that every command waits for start fast."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import policy
from policy.processes import interpreter_of

# Each takes longer than all that these programs do themselves.
SLOW = {"asyncio", "enum", "json", "re", "signal", "socket", "subprocess", "typing"}


@pytest.mark.parametrize(
    ("program", "slow"),
    [
        ("processes/supervisor.py", SLOW | {"ctypes"}),
        ("processes/guarded_names.py", SLOW | {"ctypes"}),
        ("sandbox/landlock_start.py", SLOW),
        ("sandbox/network/listen_inside.py", SLOW),
    ],
)
def test_they_import_little(program: str, slow: set[str]) -> None:
    python, *options = interpreter_of(str(Path(policy.__file__).parent / program))
    # Without arguments, they fail as soon as everything is imported.
    run = subprocess.run(
        [python, "-X", "importtime", *options], capture_output=True, text=True, check=False
    )
    lines = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip() for line in lines}
    assert {"os", Path(program).stem} <= imported
    assert not imported & slow


def test_a_file_of_the_same_folder_takes_the_place_of_no_module(tmp_path: Path) -> None:
    (tmp_path / "select.py").write_text("raise SystemExit(9)")
    (tmp_path / "own.py").write_text("import select\ndef run(given): print(*given)\n")
    done = subprocess.run(
        [*interpreter_of(str(tmp_path / "own.py")), "a", "--", "b c"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert done.stdout == "a -- b c\n"
