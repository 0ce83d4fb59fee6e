"""`placet test`: the tests in rule files, their coverage and reports."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from tests.unit.cli.running import POLICY, rules_in, run

FAILING = (
    POLICY + '\ntest "wrong \\u{7} title"\n  file_read {path: "/etc/passwd"} -> allow by read\n'
)


def test_passing_tests_are_counted(tmp_path: Path) -> None:
    ran = run("test", rules_in(tmp_path))
    assert (ran.code, ran.out, ran.err) == (0, "2 passed, 0 failed\n", "")


def test_a_failing_test_is_shown_with_the_rules_that_decided(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, FAILING)
    ran = run("test", rules)
    assert ran.code == 1
    assert "error[failed-test]: this test fails: the verdict is deny, not allow" in ran.out
    assert "deny by default (global.policy:3)" in ran.out
    assert f"{rules}/global.policy:" in ran.out
    assert ran.out.endswith("2 passed, 1 failed\n")


def test_a_case_of_a_plugin_that_is_not_known_is_not_tested(tmp_path: Path) -> None:
    case = '\ntest "plugin"\n  ext notes/find {} -> allow\n  ext__notes__find {} -> deny\n'
    rules = rules_in(tmp_path, POLICY + case)
    ran = run("test", rules)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "2 passed, 0 failed, 2 not tested")
    assert "warning[unknown-tool]: this case is not tested" in ran.out
    assert run("check", rules).out.endswith("2 test cases passed, 2 not tested\n")
    last = run("test", rules, "--format", "json").record["cases"][-1]
    assert (last["passed"], last["tested"], last["problems"]) == (False, False, [])
    suite = ElementTree.fromstring(run("test", rules, "--format", "junit").out)
    assert len(suite.findall("testcase/skipped")) == 2
    catalog = tmp_path / "tools.json"
    catalog.write_text('[{"name": "ext__notes__other", "inputSchema": {"type": "object"}}]')
    assert run("test", rules, "--catalog", catalog).code == 1


def test_coverage_names_the_rules_that_no_case_reaches(tmp_path: Path) -> None:
    rules = rules_in(tmp_path)
    ran = run("test", rules, "--coverage")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "2 passed, 0 failed"
    assert f"no case reaches write ({rules}/global.policy:8:1)" in lines
    assert not any(line.startswith("no case reaches read ") for line in lines)
    assert f"no case reaches short ({rules}/global.policy:14:1)" in lines
    assert lines[-1].endswith(" rules not reached")


def test_full_coverage_is_said(tmp_path: Path) -> None:
    text = 'policy for every agent\ndefault deny\nx: allow list_tools\ntest "x"\n'
    rules = rules_in(tmp_path, text + "  list_tools {} -> allow by x\n")
    assert run("test", rules, "--coverage").out.splitlines()[1:] == [
        "every rule is reached by a case"
    ]


def test_a_rewrite_is_reached_by_a_call_that_it_changed(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, POLICY + '  bash_exec {command: "ls", timeout: 90} -> allow\n')
    assert "no case reaches short" not in run("test", rules, "--coverage").out


def test_json_holds_the_cases_and_the_coverage(tmp_path: Path) -> None:
    record = run("test", rules_in(tmp_path), "--format", "json", "--coverage").record
    assert record["cases"][1] == {
        "file": "global.policy",
        "line": 19,
        "title": "reading",
        "tool": "file_read",
        "passed": True,
        "tested": True,
        "expected": "deny",
        "verdict": "deny",
        "problems": [],
    }
    assert {"rule": "keys", "place": "global.policy:12:1"} in record["unreached"]


def test_coverage_waits_until_all_tests_pass(tmp_path: Path) -> None:
    rules = rules_in(tmp_path, FAILING)
    ran = run("test", rules, "--coverage")
    assert ran.code == 1
    assert ran.out.endswith("coverage is available once all tests pass\n")
    assert run("test", rules, "--coverage", "--format", "json").record["unreached"] is None


def test_the_junit_report_is_xml_whatever_the_tests_hold(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    ran = run("test", rules_in(tmp_path, FAILING), "--junit", report)
    assert ran.code == 1
    suite = ElementTree.fromstring(report.read_bytes())
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "3", "1")
    failed = suite.findall("testcase")[2]
    assert failed.get("classname") == "global.policy"
    assert failed.get("name", "").startswith("wrong \\u{7} title (line ")
    failure = failed.find("failure")
    assert failure is not None
    assert failure.get("message") == "this test fails: the verdict is deny, not allow"
    assert failure.get("type") == "failed-test"


def test_the_junit_report_says_what_kept_the_tests_from_running(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    ran = run("test", rules_in(tmp_path, POLICY + "x: alow y\n"), "--junit", report)
    assert ran.code == 1
    suite = ElementTree.fromstring(report.read_bytes())
    assert suite.get("errors") == "1"
    assert suite.find("testcase/error") is not None


def test_a_report_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    ran = run("test", rules_in(tmp_path), "--junit", tmp_path / "no" / "report.xml")
    assert ran.code == 2
    assert "cannot be written: No such file or directory" in ran.err


def test_the_junit_format_prints_the_report(tmp_path: Path) -> None:
    ran = run("test", rules_in(tmp_path, FAILING), "--format", "junit")
    assert ran.code == 1
    assert ElementTree.fromstring(ran.out).get("failures") == "1"


def test_coverage_leaves_the_packs_that_ship_with_placet_out(tmp_path: Path) -> None:
    text = 'policy for every agent\nuse "placet:secrets"\nuse "packs/mine.policy"\ndefault deny\n'
    rules = rules_in(tmp_path, text + 'x: allow list_tools\ntest "x"\n  list_tools {} -> allow\n')
    (rules / "packs").mkdir()
    pack = 'pack "mine"\nkeys: deny * when reads "**/.ssh/**"\n'
    (rules / "packs" / "mine.policy").write_text(pack)
    lines = run("test", rules, "--coverage").out.splitlines()
    assert lines[1:] == [
        f"no case reaches mine.keys ({rules}/packs/mine.policy:2:1)",
        "1 rule not reached",
    ]
    record = run("test", rules, "--coverage", "--format", "json").record
    assert [one["rule"] for one in record["unreached"]] == ["mine.keys"]
