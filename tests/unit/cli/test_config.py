"""`placet config` shows and edits `placet.toml`, and never writes an invalid one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import policy
from tests.unit.cli.running import Ran, rules_in, run

pytestmark = pytest.mark.people

FILE = """\
# What the desk may do.
[permissions.tools]
bash = "ask"   # a person looks
"memory_*" = "allow"
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return rules_in(tmp_path, placet__toml=FILE)


def text(rules: Path) -> str:
    return (rules / "placet.toml").read_text("utf-8")


def refused(rules: Path, *arguments: str, code: int) -> Ran:
    """Run a command that must change nothing."""
    before = text(rules)
    ran = run("config", *arguments)
    assert ran.code == code
    assert text(rules) == before
    return ran


def test_set_writes_one_line_and_shows_the_difference(rules: Path) -> None:
    ran = run("config", "set", "permissions.tools.code_exec", "ask", rules)
    assert ran.code == 0
    assert text(rules) == FILE + 'code_exec = "ask"\n'
    assert '+code_exec = "ask"' in ran.out.splitlines()
    assert f"--- {rules.as_posix()}/placet.toml" in ran.out.splitlines()
    assert f"generation {policy.load(rules).id.digest}" in ran.out.splitlines()


def test_what_is_looser_is_said_to_be(rules: Path) -> None:
    said = "looser: this edit may allow calls that were stopped"
    stricter = run("config", "set", "permissions.tools.bash", "deny", rules)
    assert said not in stricter.out.splitlines()
    assert said in run("config", "set", "permissions.tools.bash", "allow", rules).out.splitlines()


def test_a_dry_run_shows_the_same_and_writes_nothing(rules: Path) -> None:
    dry = run("config", "set", "permissions.tools.bash", "deny", rules, "--dry-run")
    assert text(rules) == FILE
    wet = run("config", "set", "permissions.tools.bash", "deny", rules)
    assert dry.code == wet.code == 0
    assert dry.out.replace("would be generation", "generation") == wet.out


def test_unset_takes_the_line_away_again(rules: Path) -> None:
    run("config", "set", "permissions.tools.web_*", "deny", rules)
    assert '"web_*" = "deny"\n' in text(rules)
    assert run("config", "unset", 'permissions.tools."web_*"', rules).code == 0
    assert text(rules) == FILE


def test_lists_and_texts_are_written_as_toml(rules: Path) -> None:
    assert run("config", "set", "permissions.filter.blocked", '["web_*"]', rules).code == 0
    assert text(rules) == FILE + '\n[permissions.filter]\nblocked = ["web_*"]\n'


def test_the_answer_for_programs_says_it_all(rules: Path) -> None:
    record = run(
        "config", "set", "permissions.tools.bash", "allow", rules, "--format", "json"
    ).record
    assert (record["key"], record["before"], record["after"]) == (
        "permissions.tools.bash",
        '"ask"',
        '"allow"',
    )
    assert (record["looser"], record["changed"], record["dry_run"]) == (True, True, False)
    assert record["generation"]["digest"] == policy.load(rules).id.digest
    assert record["old_digest"] != record["new_digest"]


def test_a_policy_that_would_be_wrong_is_not_written(rules: Path) -> None:
    ran = refused(rules, "set", "permissions.tools.bash", "perhaps", str(rules), code=1)
    assert "error[table-value]" in ran.err
    assert f"{rules.as_posix()}/placet.toml:3:1" in ran.err
    assert '3 | bash = "perhaps"   # a person looks' in ran.err
    ran = refused(
        rules, "set", "permissions.tools.bash", "perhaps", str(rules), "--format", "json", code=1
    )
    assert json.loads(ran.out)["diagnostics"][0]["code"] == "table-value"


def test_a_test_in_the_rules_can_forbid_an_edit(rules: Path) -> None:
    ran = refused(rules, "set", "permissions.tools.file_read", "deny", str(rules), code=1)
    assert "failed-test" in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("set", "permissions..bash", "deny"),
        ("set", "permissions.tools.bash", "two words"),
        ("set", "permissions.tools", "deny"),
        ("unset", "permissions.tools.nothing"),
        ("unset", "permissions.tools"),
    ],
)
def test_wrong_usage_is_told_in_a_line(rules: Path, arguments: tuple[str, ...]) -> None:
    ran = refused(rules, *arguments, str(rules), code=2)
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("set", "permissions.tools.bash", "allow"), ("unset", "a.b")]
)
def test_a_tool_call_does_not_edit(
    rules: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_CALL", "1")
    assert "for people" in refused(rules, *arguments, str(rules), code=2).err


def test_get_shows_one_value(rules: Path) -> None:
    assert run("config", "get", "permissions.tools.bash", rules).out == '"ask"\n'
    assert run("config", "get", "permissions.tools", rules).out.splitlines() == [
        'bash = "ask"',
        '"memory_*" = "allow"',
    ]
    given = run("config", "get", "permissions", rules, "--format", "json").record
    assert given == {"tools": {"bash": "ask", "memory_*": "allow"}}
    assert run("config", "get", "permissions.tools.nothing", rules).code == 1


def test_show_lists_every_key(rules: Path) -> None:
    assert run("config", "show", rules).out.splitlines() == [
        'permissions.tools.bash = "ask"',
        'permissions.tools."memory_*" = "allow"',
    ]
    (rules / "placet.toml").unlink()
    assert run("config", "show", rules).out == ""


def test_a_file_that_is_no_toml_is_told_where(rules: Path) -> None:
    (rules / "placet.toml").write_text("[permissions\n", "utf-8")
    for arguments in (("show",), ("get", "a.b"), ("set", "a.b", "c"), ("unset", "a.b")):
        ran = run("config", *arguments, rules)
        assert ran.code == 1
        assert "placet.toml:1:" in ran.err


def test_an_edit_is_on_record_where_records_are_kept(rules: Path, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    run("config", "set", "service.audit", str(audit), rules)
    run("config", "set", "permissions.tools.bash", "deny", rules)
    start, record = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert (start["event"], start["id"], start["outcome"]) == ("start", record["id"], None)
    assert (record["asked_tool"], record["outcome"]) == ("placet:configure", "ok")
    assert record["caller"]["agent"] == "placet config"
    assert record["caller"]["user"]
    assert record["final_input"]["after"] == '"deny"'
    assert record["final_input"]["old_digest"] != record["final_input"]["new_digest"]


def test_an_edit_that_cannot_be_recorded_is_not_made(rules: Path, tmp_path: Path) -> None:
    run("config", "set", "service.audit", str(tmp_path / "gone" / "audit.jsonl"), rules)
    ran = refused(rules, "set", "permissions.tools.bash", "deny", str(rules), code=2)
    assert "recorded" in ran.err


def test_help_shows_how_it_is_used() -> None:
    ran = run("config", "--help")
    assert "placet config set permissions.tools.code_exec ask" in ran.out
    assert run("config", "set", "--help").code == 0
