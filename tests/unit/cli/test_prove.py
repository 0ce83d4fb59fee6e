"""`placet prove`: what is said of claims that hold, are broken, or are undecided."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.unit.cli.running import Ran, rules_in, run

BASE = """\
policy for every agent

default deny

read: allow file_read when reads only "/srv/**"
look: allow bash_exec when runs only "git status" and input.timeout <= 30
guests: deny bash_exec when session.role == "guest"
private: deny * when reads "/srv/payroll/**"
"""


def _prove(tmp_path: Path, *claims: str, more: tuple[str, ...] = ()) -> Ran:
    return run("prove", _rules(tmp_path, BASE + "\n".join(claims) + "\n"), *more)


def _rules(tmp_path: Path, text: str) -> Path:
    return rules_in(Path(mkdtemp(dir=tmp_path)), text)


@pytest.mark.parametrize(
    ("claim", "kept_by"),
    [
        ('prove never allow bash_exec when session.role == "guest"', "guests"),
        ('prove always deny * when reads "/srv/payroll/2026/**"', "private"),
        ('prove never allow file_read when reads "/etc/**"', "default"),
        ("prove never allow bash_exec when input.timeout > 60", "default"),
        ("prove never allow file_write", "default"),
        ('prove always deny bash_exec when session.role == "anonymous"', "identity"),
    ],
)
def test_a_claim_that_holds_is_said_to_be_kept_by_rules(
    tmp_path: Path, claim: str, kept_by: str
) -> None:
    ran = _prove(tmp_path, claim)
    assert ran.code == 0, ran.out
    assert ran.out.startswith("holds")
    assert kept_by in ran.out.splitlines()[1]


@pytest.mark.parametrize(
    ("claim", "call"),
    [
        (
            "prove never allow bash_exec when input.timeout > 20",
            'bash_exec {"command": "git status", "timeout": 30} -> deny',
        ),
        (
            'prove never allow file_read when reads "/srv/private.txt"',
            'file_read {"path": "/srv/private.txt"} -> deny',
        ),
        (
            'prove always deny bash_exec when session.role == "clerk"',
            '  given session.role = "clerk"',
        ),
        (
            'prove always deny file_read when agent.name in ["ann", "bob"]',
            '  given agent.name = "ann"',
        ),
    ],
)
def test_a_claim_that_is_broken_is_shown_with_a_test(tmp_path: Path, claim: str, call: str) -> None:
    ran = _prove(tmp_path, claim)
    assert ran.code == 1
    assert ran.out.startswith("broken")
    assert call in ran.out


def test_the_tests_that_are_written_fail_until_the_policy_is_mended(tmp_path: Path) -> None:
    claim = "prove never allow bash_exec when input.timeout > 20"
    tests = tmp_path / "tests.txt"
    ran = _prove(tmp_path, claim, more=("--write-tests", str(tests)))
    assert ran.code == 1
    written = tests.read_text()
    failing = _rules(tmp_path, BASE + written)
    assert "1 failed" in run("test", failing).out
    mended = _rules(tmp_path, BASE.replace("<= 30", "<= 20") + written)
    assert run("test", mended).out == "1 passed, 0 failed\n"


def test_an_undecided_claim_is_an_error_and_an_undecided_assumption_is_not(tmp_path: Path) -> None:
    clause = "never allow file_read when input.path matches /[0-9]{9}/"
    ran = _prove(tmp_path, f"prove {clause}")
    assert (ran.code, ran.out.split()[0]) == (1, "undecided")
    assert "file_read" in ran.out
    ran = _prove(tmp_path, f"assume {clause}")
    assert (ran.code, ran.out.split()[0]) == (0, "undecided")


def test_a_claim_that_no_call_meets_is_told_apart(tmp_path: Path) -> None:
    ran = _prove(tmp_path, "prove never allow file_read when input.path is absent")
    assert "no call meets the claim's conditions" in ran.out


def test_a_claim_whose_condition_is_indeterminate_counts_as_met(tmp_path: Path) -> None:
    ran = _prove(tmp_path, 'prove never allow file_read when context.mode == "x"')
    assert ran.code == 1, ran.out


def test_programs_get_the_claims_as_json(tmp_path: Path) -> None:
    claim = "prove never allow bash_exec when input.timeout > 20"
    ran = _prove(tmp_path, claim, "prove never allow file_write", more=("--format", "json"))
    broken, holds = ran.record["claims"]
    assert broken["status"] == "broken"
    assert broken["counterexample"]["input"] == {"command": "git status", "timeout": 30}
    assert broken["counterexample"]["verdict"] == "allow"
    assert broken["counterexample"]["by"] == ["look"]
    assert (holds["status"], holds["counterexample"]) == ("holds", None)
    assert holds["kept_by"][0]["rule"] == "default"


def test_a_policy_without_claims_is_told_what_one_is(tmp_path: Path) -> None:
    ran = _prove(tmp_path)
    assert (ran.code, ran.out) == (0, "")
    assert "prove never allow" in ran.err


def test_other_errors_of_a_policy_come_first(tmp_path: Path) -> None:
    ran = _prove(tmp_path, "x: allow nothing_known when reads onyl workspace")
    assert ran.code == 1
    assert "error[" in ran.err
