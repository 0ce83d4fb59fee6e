"""`placet check`: every diagnostic, in three formats."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from policy.cli.page import page_of
from policy.diagnostics import CODES
from tests.unit.cli.running import POLICY, rules_in, run

MISTAKES = POLICY + "typo: allow file_raed\nwrong: allow file_read when input.path >\n"
WARNED = POLICY.replace("write: allow", "allow")


def test_a_good_policy_is_fine(tmp_path: Path) -> None:
    ran = run("check", rules_in(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "fine: 1 policy file, 2 test cases passed\n"


@pytest.mark.parametrize("command", ["check", "test"])
def test_a_policy_without_tests_is_noted(tmp_path: Path, command: str) -> None:
    ran = run(command, rules_in(tmp_path, "policy for every agent\n\ndefault deny\n"))
    assert ran.code == 0
    assert ran.err.startswith("note: no tests show")
    (code,) = re.findall(r"--explain ([a-z-]+)", ran.err)
    assert "Tests are written at the end of a rule file" in page_of(code)
    (tmp_path / "rules" / "global.policy").write_text(POLICY, "utf-8")
    assert run(command, tmp_path / "rules").err == ""


def test_every_mistake_is_shown_at_its_place(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, MISTAKES, placet__toml="[nonsense]\nx = 1\n")
    ran = run("check", rules)
    assert ran.code == 1
    assert "no tool is called `file_raed`" in ran.out
    assert f"{rules}/global.policy:20:13" in ran.out
    assert f"{rules}/global.policy:21:" in ran.out
    assert f"{rules}/placet.toml:1:" in ran.out
    assert "fine" not in ran.out


def test_json_holds_what_the_interface_says(tmp_path: Path) -> None:
    ran = run("check", rules_in(tmp_path, MISTAKES), "--format", "json")
    assert ran.code == 1
    found = json.loads(ran.out)["diagnostics"]
    assert all(
        {"code", "severity", "message", "file", "line", "column", "help"} <= set(entry)
        for entry in found
    )
    (typo,) = [entry for entry in found if entry["code"] == "unknown-tool"]
    assert (typo["file"], typo["line"], typo["column"]) == ("global.policy", 20, 13)
    assert typo["severity"] == "error"
    assert typo["help"] == "did you mean `file_read`?"


def test_a_good_policy_is_an_empty_list_for_programs(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    assert json.loads(run("check", rules, "--format", "json").out) == {"diagnostics": []}
    log = json.loads(run("check", rules, "--format", "sarif").out)
    assert log["runs"][0]["results"] == []


def test_sarif_leads_from_the_working_directory_to_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules_in(tmp_path, MISTAKES)
    monkeypatch.chdir(tmp_path)
    ran = run("check", "--format", "sarif")
    assert ran.code == 1
    log = json.loads(ran.out)
    assert log["version"] == "2.1.0"
    places = [
        result["locations"][0]["physicalLocation"]
        for result in log["runs"][0]["results"]
        if result["ruleId"] == "unknown-tool"
    ]
    assert [place["artifactLocation"]["uri"] for place in places] == ["rules/global.policy"]
    assert places[0]["region"]["startLine"] == 20


def test_warnings_are_errors_only_where_asked(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, WARNED)
    ran = run("check", rules)
    assert ran.code == 0
    assert "warning[" in ran.out
    assert "fine: " in ran.out
    strict = run("check", rules, "--strict")
    assert strict.code == 1
    assert "fine" not in strict.out


def test_a_failed_test_is_a_wrong_policy(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, POLICY.replace("-> deny by default", "-> allow"))
    ran = run("check", rules)
    assert ran.code == 1
    assert "error[failed-test]: this test fails: the verdict is deny, not allow" in ran.out


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_page(code: str) -> None:
    assert page_of(code).startswith(f"# {code}\n")


def test_a_code_is_explained_wherever_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("check", "--explain", "unknown-tool")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == page_of("unknown-tool")


def test_a_code_that_there_is_not_has_no_page() -> None:
    ran = run("check", "--explain", "unknown-tol")
    assert ran.code == 2
    assert "no diagnostic is called 'unknown-tol'; did you mean `unknown-tool`?" in ran.err


CODING = 'policy for every agent\n\ndefault deny\n\nuse "placet:coding"{more} granting\n'
NO_TESTS = "note: no tests show"


@pytest.mark.parametrize(
    ("more", "rule", "verb"),
    [
        (' with code = "allow"', 'no-env: deny * when reads "**/.env"', "denies"),
        (' with code = "ask"', 'no-env: deny * when reads "**/.env"', "denies"),
        ("", 'no-env: deny bash_exec when runs "git push *"', "denies"),
        (' with code = "allow"', 'no-env: ask * when connects to "b.example"', "asks about"),
    ],
)
def test_a_rule_that_meets_all_code_on_the_command_line_is_noted(
    tmp_path: Path, more: str, rule: str, verb: str
) -> None:
    rules = rules_in(tmp_path, CODING.format(more=more) + rule + "\n")
    ran = run("check", rules)
    (note,) = [line for line in ran.err.splitlines() if not line.startswith(NO_TESTS)]
    assert note.startswith(f"note: `no-env` ({rules}/global.policy:6) {verb} all code on the ")
    assert "`python -c 'pass'`" in note
    assert f"`{SET_OF[rule.split()[-2]]} except inline_code`" in note


SET_OF = {
    "reads": 'paths env = "**/.env"',
    "push": 'commands pushes = "git push *"',
    "to": 'hosts theirs = "*.corp.example"',
}


def test_several_rules_that_meet_code_on_the_command_line_are_noted_once(tmp_path: Path) -> None:
    more = 'ask-env: ask * when writes "**/.env"\nno-env: deny * when reads "**/.env"\n'
    rules = rules_in(tmp_path, CODING.format(more=' with code = "allow"') + more)
    (note,) = [x for x in run("check", rules).err.splitlines() if not x.startswith(NO_TESTS)]
    assert note.startswith(f"note: `no-env` ({rules}/global.policy:7) denies and ")
    assert f"`ask-env` ({rules}/global.policy:6) asks about all code on the command line" in note


@pytest.mark.parametrize(
    ("more", "rules"),
    [
        ("", 'paths env = "**/.env" except inline_code\nno-env: deny * when reads env\n'),
        ("", "no-code: deny bash_exec when reads [inline_code]\n"),
        ("", "few: limit bash_exec to 20 per minute\n"),
        (' with code = "deny"', 'no-env: deny * when reads "**/.env"\n'),
        (' with code = "ask"', 'no-env: ask * when writes "**/.env"\n'),
    ],
)
def test_a_rule_about_what_is_visible_or_about_code_is_not_noted(
    tmp_path: Path, more: str, rules: str
) -> None:
    ran = run("check", rules_in(tmp_path, CODING.format(more=more) + rules))
    assert ran.code == 0
    assert [line for line in ran.err.splitlines() if not line.startswith(NO_TESTS)] == []
