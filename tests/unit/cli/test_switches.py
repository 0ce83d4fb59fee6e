"""Every command that loads rules uses exactly the fast paths that are switched on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

import click
import pytest

from policy.catalog import LOCK_FILE
from policy.cli import person
from policy.cli.commands import commands
from policy.cli.demo.command import server_environment
from policy.generation import Builder
from policy.pins import Lock, Reviewed, accepted, recorded_definitions, write_lock
from policy.program import ALL_SHORTCUTS, NO_SHORTCUTS
from policy.syntax import statement
from policy.syntax import tables as tables_module
from tests.unit.cli.running import rules_in, run
from tests.unit.cli.test_approvals import asked, file
from tests.unit.cli.test_fast_paths import NAMES

Words: TypeAlias = Callable[[Path], tuple[str | Path, ...]]

SETTINGS = """\
[service]
workspace = "/nowhere"
[approvals]
store = "../s/a.sqlite"
[permissions.tools]
bash = "ask"
"""
CALL = ("--tool", "file_read", "--input", '{"path": "a"}')
SERVED = [{"name": "look"}]


def _recorded(rules: Path) -> tuple[str | Path, ...]:
    file = rules.parent / "answers.json"
    file.write_text(json.dumps(SERVED), "utf-8")
    return rules, "--server", "hub", "--recording", file


def _reviewed(rules: Path) -> tuple[str | Path, ...]:
    place = _recorded(rules)
    digest = run("pin", "review", *place, "--format", "json").record["digest"]
    return *place, "--reviewed", digest


def _pinned(rules: Path) -> tuple[str | Path, ...]:
    reviewed = Reviewed(by="ada", at="2026-01-01T00:00:00Z")
    lock = accepted(Lock(), recorded_definitions("hub", SERVED), reviewed=reviewed)
    (rules / LOCK_FILE).write_bytes(write_lock(lock))
    return "hub", rules


# How each command is made to load the rules at a path.
LOADING: dict[str, Words] = {
    "check": lambda rules: (rules,),
    "fmt": lambda rules: (rules, "--check"),
    "test": lambda rules: (rules,),
    "prove": lambda rules: (rules,),
    "diff": lambda rules: (rules, rules),
    "decide": lambda rules: (rules,),
    "explain": lambda rules: (rules, *CALL),
    "serve": lambda rules: (rules,),
    "gateway": lambda rules: (rules,),
    "config set": lambda rules: ("permissions.tools.bash", "deny", rules),
    "config unset": lambda rules: ("permissions.tools.bash", rules),
    "approvals propose": lambda rules: ("q1", rules, "--workspace", "/srv"),
    "approvals approve": lambda rules: ("q1", rules, "--always"),
    "plugins": lambda rules: ("--rules", rules),
    "pin accept": _reviewed,
    "pin forget": _pinned,
    "sandbox explain": lambda rules: (rules,),
    "sandbox print": lambda rules: ("--rules", rules, "--for", "seatbelt", "--", "true"),
    "sandbox run": lambda rules: ("--rules", rules, "--", "true"),
    "doctor": lambda rules: (rules, "--no-sandbox"),
    "status": lambda rules: (rules,),
    "limits": lambda rules: (rules,),
    "sessions list": lambda rules: (rules,),
    "sessions show": lambda rules: ("desk", "--rules", rules),
    "sessions clear": lambda rules: ("desk", "--because", "x", "--rules", rules),
}
# The others read the configuration at most.
OTHERS: dict[str, Words] = {
    "config show": lambda rules: (rules,),
    "config get": lambda rules: ("permissions.tools.bash", rules),
    "approvals list": lambda rules: (rules,),
    "approvals show": lambda rules: ("q1", rules),
    "approvals deny": lambda rules: ("q1", rules),
    "approvals grants": lambda rules: (rules,),
    "approvals revoke": lambda rules: ("q1", rules),
    "freeze": lambda rules: ("mcp *", "--because", "x", "--rules", rules),
    "acknowledge": lambda rules: ("--rules", rules),
    "pin list": lambda rules: (rules,),
    "pin review": _recorded,
    "unfreeze": lambda rules: ("--rules", rules),
    "init": lambda rules: (rules / "new",),
    "catalog export": lambda rules: ("no_such_module:tools",),
    "daemon status": lambda rules: (),
    "daemon stop": lambda rules: (),
}
# Loads them in a server of its own.
BY_A_SERVER = "demo"
# Loads them in a daemon, which outlives the command and its environment.
BY_A_DAEMON = "hook"


def leaves(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield every command below this one that does something, by its words."""
    if not isinstance(command, click.Group):
        yield " ".join(words)
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from leaves(found, (*words, name))


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(person, "_user", lambda: "ada")
    made = rules_in(tmp_path, placet__toml=SETTINGS)
    file(made, asked("q1"))
    return made


class Seen:
    """What a command loaded rules with."""

    def __init__(self) -> None:
        self.tables = 0
        self.builders: list[dict[str, Any]] = []

    @property
    def anything(self) -> bool:
        return bool(self.tables or self.builders)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Look on while rules are loaded."""
    seen = Seen()
    tables, begin = tables_module.tables, Builder.__init__

    def look() -> Any:
        seen.tables += 1
        return tables()

    def made(self: Builder, **given: Any) -> None:
        seen.builders.append(given)
        begin(self, **given)

    monkeypatch.setattr(statement, "tables", look)
    monkeypatch.setattr(Builder, "__init__", made)
    return seen


def test_every_command_is_known_here() -> None:
    assert set(leaves(commands)) == {*LOADING, *OTHERS, BY_A_SERVER, BY_A_DAEMON}


@pytest.mark.parametrize("name", LOADING)
def test_a_command_that_loads_rules_takes_no_way_that_is_switched_off(
    name: str, rules: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLACET_NO_FAST", ",".join(NAMES))
    run(*name.split(), *LOADING[name](rules))
    assert seen.tables == 0
    for given in seen.builders:
        assert (given["remembering"], given["engine"]) == (False, "lark")
        assert given["shortcuts"] == NO_SHORTCUTS


@pytest.mark.parametrize("name", LOADING)
def test_a_command_that_loads_rules_takes_every_way_otherwise(
    name: str, rules: Path, seen: Seen
) -> None:
    run(*name.split(), *LOADING[name](rules))
    assert seen.tables > 0
    for given in seen.builders:
        # Whoever builds once has nothing to remember, whatever is switched off.
        assert given["engine"] == "tables"
        assert given["shortcuts"] == ALL_SHORTCUTS
    assert bool(seen.builders) == (name != "fmt")


@pytest.mark.parametrize("name", [*LOADING, BY_A_SERVER])
def test_a_command_that_loads_rules_refuses_a_name_that_is_none(
    name: str, rules: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_NO_FAST", "quickly")
    words = LOADING[name](rules) if name in LOADING else ()
    ran = run(*name.split(), *words)
    assert (ran.code, ran.out) == (2, "")
    assert "PLACET_NO_FAST names 'quickly'" in ran.err
    assert all(known in ran.err for known in NAMES)
    assert not seen.anything


def test_a_question_is_not_answered_where_a_name_is_none(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_NO_FAST", "quickly")
    assert run("approvals", "approve", "q1", rules, "--always").code == 2
    monkeypatch.delenv("PLACET_NO_FAST")
    assert "pending" in run("approvals", "show", "q1", rules, "--format", "json").out


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_commands_load_no_rules(name: str, rules: Path, seen: Seen) -> None:
    run(*name.split(), *OTHERS[name](rules))
    assert not seen.anything


def test_a_freeze_that_names_an_unknown_tool_stands_whatever_is_switched_off(
    rules: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("freeze", "bahs_exec", "--because", "x", "--rules", rules)
    assert "did you mean" in run(*words).err
    assert seen.builders
    monkeypatch.setenv("PLACET_NO_FAST", "quickly")
    ran = run(*words)
    assert ran.code == 0
    assert "bahs_exec" in ran.out


def test_the_server_of_the_demo_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "PLACET_NO_FAST" not in server_environment()
    monkeypatch.setenv("PLACET_NO_FAST", "generated")
    assert server_environment()["PLACET_NO_FAST"] == "generated"


def test_every_shortcut_has_a_name() -> None:
    assert {one.name for one in fields(ALL_SHORTCUTS)} <= set(NAMES)
