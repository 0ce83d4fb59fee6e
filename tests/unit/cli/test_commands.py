"""What all commands share: help, paths, exit statuses, streams."""

from __future__ import annotations

import importlib
from pathlib import Path

import click
import pytest

from policy.cli.commands import commands
from tests.unit.cli.running import POLICY, rules_in, run

COMMANDS = ("check", "fmt", "test", "decide", "explain")
# What makes each of them do something without reading standard input.
ASKING: dict[str, tuple[str, ...]] = {"explain": ("--tool", "file_read")}


@pytest.mark.parametrize("name", [*COMMANDS, "serve", "demo", "freeze", "unfreeze", "status"])
def test_the_help_of_every_command_shows_an_example(name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    assert f"placet {name}" in ran.out.split("Example")[1]


def test_the_list_of_commands_names_them_all() -> None:
    ran = run("--help")
    assert ran.code == 0
    listed = ran.out.split("Commands:")[1]
    assert all(f"\n  {name} " in listed for name in (*COMMANDS, "serve", "demo"))


@pytest.mark.parametrize("name", [*COMMANDS, "serve", "demo"])
def test_every_command_listed_is_one(name: str) -> None:
    assert isinstance(importlib.import_module(f"policy.cli.{name}").command, click.Command)
    assert name in commands.list_commands(click.Context(commands))


@pytest.mark.parametrize(
    ("typed", "meant"), [("chek", "check"), ("tset", "test"), ("explan", "explain")]
)
def test_a_mistyped_command_is_answered_with_the_nearest_one(typed: str, meant: str) -> None:
    ran = run(typed)
    assert (ran.code, ran.out) == (2, "")
    assert f"Did you mean '{meant}'?" in ran.err


def test_an_unknown_command_is_shown_with_nothing_hidden() -> None:
    ran = run("\u202exyzzy\x07")
    assert ran.code == 2
    assert "No such command '\\u{202e}xyzzy\\u{7}'." in ran.err


@pytest.mark.parametrize("name", COMMANDS)
class TestPaths:
    def test_a_path_that_does_not_exist_is_wrong_usage(self, name: str, tmp_path: Path) -> None:
        ran = run(name, tmp_path / "nowhere", *ASKING.get(name, ()))
        assert (ran.code, ran.out) == (2, "")
        assert "nothing is at" in ran.err

    def test_an_empty_folder_is_a_wrong_policy(self, name: str, tmp_path: Path) -> None:
        ran = run(name, tmp_path, *ASKING.get(name, ()))
        assert ran.code == 1
        assert "error[empty-policy]" in ran.out + ran.err

    def test_a_file_that_is_no_policy_is_wrong_usage(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "README.md").write_text("# Rules\n")
        ran = run(name, tmp_path / "README.md", *ASKING.get(name, ()))
        assert (ran.code, ran.out) == (2, "")
        assert "is not a policy: give a folder or one `.policy` file" in ran.err

    def test_a_folder_and_one_file_and_the_default_say_the_same(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rules_in(tmp_path)
        monkeypatch.chdir(tmp_path)
        options = ASKING.get(name, ())
        ran = run(name, "rules/", *options)
        assert ran.code == 0
        assert run(name, "rules", *options) == ran
        assert run(name, *options) == ran
        assert run(name, "rules/global.policy", *options) == ran

    def test_a_pipe_is_never_opened(self, name: str, tmp_path: Path) -> None:
        import os

        os.mkfifo(tmp_path / "x.policy")
        for path in (tmp_path, tmp_path / "x.policy"):
            ran = run(name, path, *ASKING.get(name, ()))
            assert ran.code == 2
            assert "`x.policy` is not a regular file" in ran.out + ran.err


@pytest.mark.parametrize("name", ["decide", "explain", "test", "fmt"])
def test_what_is_wrong_with_the_policy_goes_to_standard_error(name: str, tmp_path: Path) -> None:
    rules = rules_in(tmp_path, POLICY.replace("allow file_read", "alow file_read"))
    ran = run(name, rules, *ASKING.get(name, ()))
    assert (ran.code, ran.out) == (1, "")
    assert f"{rules}/global.policy:7:" in ran.err
