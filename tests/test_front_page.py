"""The programs in the README run as written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_one_answer_lets_two_refunds_through(tmp_path: Path) -> None:
    (program,) = [each for each in PROGRAMS if "def refund" in each]
    (rules,) = re.findall(r"`refunds\.policy`\n\n```policy\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "refunds.policy").write_text(rules)
    lines = ran(program, tmp_path)
    assert lines == [
        "ada has got 20 back",
        "ada has got 30 back",
        "not-allowed - no rule allows this",
        "not-allowed - no rule allows this",
        "asked 1 time",
    ]


def test_a_script_without_answers_says_so(tmp_path: Path) -> None:
    """Who changes the customers of the example needs another answer for each."""
    (program,) = [each for each in PROGRAMS if "def refund" in each]
    (rules,) = re.findall(r"`refunds\.policy`\n\n```policy\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "refunds.policy").write_text(rules)
    lines = ran(program.replace('"customer": "ada"', '"customer": str(amount)'), tmp_path)
    said = "approval-refused - the approval was refused: the ScriptedApprover has no answers left"
    assert lines[1].startswith(said)


def test_every_program_of_the_page_is_tried_here() -> None:
    assert len(PROGRAMS) == 1


def ran(program: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
