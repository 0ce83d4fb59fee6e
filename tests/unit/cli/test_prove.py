"""`placet prove`: what is said of claims that hold, are broken, or are undecided."""

from __future__ import annotations

import json
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
    tests = tmp_path / "broken.policy"
    ran = _prove(tmp_path, claim, more=("--write-tests", str(tests)))
    assert ran.code == 1
    for rules, said in ((BASE, "1 failed"), (BASE.replace("<= 30", "<= 20"), "1 passed, 0 failed")):
        folder = _rules(tmp_path, rules)
        (folder / "broken.policy").write_text(tests.read_text())
        assert said in run("test", folder).out


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


def test_a_claim_on_the_command_line_is_proved_of_the_policy(tmp_path: Path) -> None:
    rules = _rules(tmp_path, BASE + "prove never allow file_delete\n")
    held = run("prove", rules, "--claim", "never allow file_write")
    assert held.code == 0
    assert held.out.splitlines()[-1] == "1 claim: 1 hold, 0 broken, 0 undecided"
    both = run(
        *("prove", rules, "--claim", "prove never allow file_write"),
        *("--claim", 'always deny file_read when reads "/srv/a"'),
    )
    assert both.code == 1
    assert "2 claims: 1 hold, 1 broken, 0 undecided" in both.out
    assert (rules / "global.policy").read_text().endswith("prove never allow file_delete\n")


@pytest.mark.parametrize("claim", ["never allo file_write", "never allow *\nallow *"])
def test_a_claim_that_is_none_proves_nothing(tmp_path: Path, claim: str) -> None:
    ran = run("prove", _rules(tmp_path, BASE), "--claim", claim)
    assert ran.code == 2
    assert "hold" not in ran.out
    assert "--claim" in ran.err


def test_a_rule_that_there_is_not_is_wrong_usage(tmp_path: Path) -> None:
    ran = _prove(tmp_path, "prove never allow file_write", more=("--rule", "guest"))
    assert ran.code == 2
    assert "no rule is called `guest`; did you mean `guests`?" in ran.err
    ran = _prove(tmp_path, "prove never allow file_write", more=("--rule", "guests"))
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "`guests` keeps and breaks no claim\n"


def test_the_place_of_an_unnamed_rule_is_printed_once(tmp_path: Path) -> None:
    rules = BASE.replace("guests: ", "")
    claim = 'prove never allow bash_exec when session.role == "guest"'
    ran = run("prove", _rules(tmp_path, f"{rules}{claim}\n"))
    assert ran.out.splitlines()[1].strip() == "kept by global.policy:7"


def test_the_claims_that_a_rule_keeps_or_breaks_are_shown_alone(tmp_path: Path) -> None:
    claims = (
        'prove never allow bash_exec when session.role == "guest"',
        "prove never allow file_write",
        "prove never allow bash_exec when input.timeout > 20",
    )
    for rule, line in (("guests", claims[0]), ("look", claims[2])):
        ran = _prove(tmp_path, *claims, more=("--rule", rule))
        assert [each for each in ran.out.splitlines() if each.startswith(("holds", "broken"))] == [
            each for each in ran.out.splitlines() if line in each and not each.startswith(" ")
        ]
        assert "1 claim:" in ran.out


def test_rules_that_never_matter_are_listed_with_what_decides_instead(tmp_path: Path) -> None:
    more = """\
    late: deny file_read when reads "/srv/payroll/2026/**"
    lost: allow file_read when reads only "/srv/payroll/**"
    never: deny bash_exec when input.timeout > 30
    used: deny bash_exec when input.timeout > 20
    """
    rules = _rules(tmp_path, BASE + "".join(line.strip() + "\n" for line in more.splitlines()))
    ran = run("prove", rules, "--dead")
    assert ran.code == 0
    shown = [line for line in ran.out.splitlines() if line.startswith("dead")]
    assert [line.partition("  deny ")[2] or line.partition("  allow ")[2] for line in shown] == [
        'file_read when reads "/srv/payroll/2026/**"',
        'file_read when reads only "/srv/payroll/**"',
        "bash_exec when input.timeout > 30",
    ]
    assert "decided by private (" in ran.out
    assert "decided by default (" in ran.out
    assert ran.out.endswith("3 rules never matter\n")
    recorded = run("prove", rules, "--dead", "--format", "json")
    found = json.loads(recorded.out)["dead"]
    assert [dead["rule"] for dead in found] == ["late", "lost", "never"]
    assert found[0]["because_of"][0]["rule"] == "private"
    assert run("prove", rules, "--dead", "--rule", "late").code == 2


def test_broken_claims_are_results_for_code_review_tools(tmp_path: Path) -> None:
    claims = ("prove never allow file_write", "prove never allow bash_exec when input.timeout > 20")
    ran = _prove(tmp_path, *claims, more=("--format", "sarif"))
    assert ran.code == 1
    (result,) = json.loads(ran.out)["runs"][0]["results"]
    assert result["ruleId"] == "invariant-broken"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 10


# Strings with an escape sequence, a change of direction, markup, a line break and a letter.
HOSTILE = (
    r"\u{1b}[31mred",
    r"\u{202e}live",
    r"`<img src=x>`|**a**|[l](http://e.example)",
    r"a\nb",
    "é",
    "${b}".replace("$", "$$"),
)


def _hostile(tmp_path: Path) -> Path:
    """Return rules that let agents and a role with hostile names write, against as many claims."""
    tests = [f'agent.name == "{name}"' for name in HOSTILE] + [f'session.role == "{HOSTILE[2]}"']
    claims = [
        f'prove never allow file_write when {test} and input.content == "{HOSTILE[2]}"'
        for test in tests
    ]
    rule = f"some: allow file_write when {' or '.join(tests)}"
    return _rules(tmp_path, "\n".join([BASE, rule, *claims]) + "\n")


def test_hostile_names_are_escaped_wherever_they_are_shown(tmp_path: Path) -> None:
    rules = _hostile(tmp_path)
    written = tmp_path / "written.policy"
    ran = run("prove", rules, "--write-tests", written)
    assert ran.out.count("broken ") == len(HOSTILE) + 1
    for text in (ran.out, written.read_text(encoding="utf-8")):
        assert all(char.isprintable() or char == "\n" for char in text)
    log = json.loads(run("prove", rules, "--format", "sarif").out)
    messages = [result["message"]["text"] for result in log["runs"][0]["results"]]
    assert len(messages) == len(HOSTILE) + 1
    assert all(message.isprintable() for message in messages)
    assert not any("[l](" in message.replace("\\[", "") for message in messages)


def test_tests_that_are_written_mean_the_calls_that_were_shown(tmp_path: Path) -> None:
    rules = _hostile(tmp_path)
    written = tmp_path / "written.policy"
    run("prove", rules, "--write-tests", written)
    text = (rules / "global.policy").read_text(encoding="utf-8")
    without = "".join(line for line in text.splitlines(True) if not line.startswith("prove"))
    count = len(HOSTILE) + 1
    mended = without.replace("some: allow", "some: deny")
    for text, said in (
        (without, f"0 passed, {count} failed"),
        (mended, f"{count} passed, 0 failed"),
    ):
        folder = _rules(tmp_path, text)
        (folder / "written.policy").write_bytes(written.read_bytes())
        ran = run("test", folder)
        assert ran.out.endswith(f"{said}\n"), ran.err


@pytest.mark.parametrize("tools", ["nosuchthing", "bash_exec, nosuchthing", "mcp nobody/*"])
@pytest.mark.parametrize("in_file", [True, False])
def test_a_claim_about_a_tool_that_nobody_knows_proves_nothing(
    tmp_path: Path, tools: str, in_file: bool
) -> None:
    # The condition excludes every call, so the claim holds for what is known of the tools.
    said = f'never allow {tools} when session.role == "guest"'
    path = _rules(tmp_path, f"{BASE}prove {said}\n" if in_file else BASE)
    ran = run("prove", path, *(() if in_file else ("--claim", said)))
    assert ran.code == 1, ran.out
    assert "unknown-tool" in ran.err
    assert ("undecided" if "bash_exec" not in tools else "holds") == ran.out.split()[0]
    assert run("check", path).code == 0  # a program may add the tool


def test_an_assumption_about_a_tool_that_nobody_knows_is_undecided(tmp_path: Path) -> None:
    ran = _prove(tmp_path, "assume never allow nosuchthing")
    assert (ran.code, ran.out.split()[0]) == (0, "undecided")
