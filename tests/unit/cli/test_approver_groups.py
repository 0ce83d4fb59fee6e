"""Groups of approvers without members are named where a policy is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.running import rules_in, run

POLICY = """\
policy for every agent

default deny

pay:
  allow file_delete
  with approval
  by "finance", "the board"
more: ask file_delete by "finance"

test "asks"
  file_delete {path: "a"} -> ask by pay
"""
COMMANDS = ("check", "status", "doctor")


def noted(command: str, rules: Path) -> str:
    """Return the line of a command that begins with `note:`, if there is one."""
    more = ("--no-servers", "--no-sandbox") if command == "doctor" else ()
    ran = run(command, rules, *more)
    assert ran.code == 0, ran.out + ran.err
    lines = f"{ran.out}\n{ran.err}".splitlines()
    return "".join(line for line in lines if line.startswith("note:"))


@pytest.mark.parametrize("command", COMMANDS)
def test_groups_are_named_where_none_is_configured(command: str, tmp_path: Path) -> None:
    rules = rules_in(tmp_path, POLICY)
    note = noted(command, rules)
    place = f"{rules}/global.policy:5"
    assert note.startswith(f'note: `by "finance"` ({place}), `by "the board"` ({place}): these')
    assert "nobody can approve" in note
    assert '`[approvals.groups]` `finance = ["ada"]`' in note


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_noted_of_groups_with_members(command: str, tmp_path: Path) -> None:
    table = '[approvals.groups]\nfinance = ["ada"]\n"the board" = ["grace"]\n'
    assert noted(command, rules_in(tmp_path, POLICY, placet__toml=table)) == ""


def test_one_group_of_several_is_a_warning_of_check(tmp_path: Path) -> None:
    table = '[approvals.groups]\nfinance = ["ada"]\n"the board" = []\n'
    rules = rules_in(tmp_path, POLICY, placet__toml=table)
    ran = run("check", rules)
    assert "warning[unknown-group]: the group `the board` has no members" in ran.out
    assert "note:" not in ran.err
    assert run("status", rules, "--format", "json").record["groups_without_members"] == [
        "the board"
    ]
    example = '`[approvals.groups]` `"the board" = ["ada"]`'
    assert example in noted("doctor", rules)
