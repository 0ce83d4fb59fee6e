"""What a process imports to decide one call: no more than the call and the policy need."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from policy.version import VERSION

ROOT = Path(__file__).resolve().parents[2]

# What costs a start as much as deciding does, or more, and what a plain decision has no use for.
HEAVY = frozenset(
    {
        "ada_url", "annotated_types", "anyio", "ast", "asyncio", "click", "dataclasses", "email",
        "fnmatch", "hashlib", "html", "hypothesis", "importlib.metadata", "importlib.resources",
        "inspect", "interegular", "ipaddress", "jsonschema_rs", "lark", "logging", "mcp",
        "pathlib", "policy.admission.renaming", "policy.audit", "policy.capabilities",
        "policy.catalog.guesses", "policy.catalog.nearby", "policy.catalog.slips",
        "policy.checks.changes", "policy.checks.exclusions", "policy.checks.lints",
        "policy.checks.places", "policy.checks.refused", "policy.checks.remembered",
        "policy.checks.sets", "policy.checks.sql", "policy.checks.stored",
        "policy.checks.storing", "policy.commands.bash", "policy.commands.pattern",
        "policy.commands.profile_file", "policy.commands.understander",
        "policy.decision.expectation", "policy.decision.explanation", "policy.decision.quick",
        "policy.decision.quick_plan", "policy.decision.rewrite", "policy.diagnostics.suggest",
        "policy.errors", "policy.layers.giving", "policy.layers.rewrites",
        "policy.program.carried", "policy.program.changes", "policy.program.effects",
        "policy.program.generated", "policy.program.resource_tests", "policy.proxy",
        "policy.reload.beyond", "policy.reload.current", "policy.reload.disk",
        "policy.reload.letter_case", "policy.reload.links", "policy.reload.places",
        "policy.reload.settings_file", "policy.service", "policy.values.path_set",
        "policy.values.times", "policy.verify.examples", "policy.verify.proposal", "pydantic",
        "pydantic_core", "random", "re2", "socket", "sqlglot", "sqlite3", "ssl", "starlette",
        "tempfile", "threading", "tomlkit", "tomllib", "tree_sitter", "typing_extensions",
        "unicodedata", "urllib.parse", "urllib.request", "uvicorn", "watchfiles", "yaml",
        "zipfile", "zoneinfo",
    }
)  # fmt: skip

# Click, which tells about commands, imports these itself.
ENGINE = HEAVY - {"ast", "click", "fnmatch", "inspect", "threading", "unicodedata"}

POLICY = """policy for every agent

default deny
read: allow file_read when input.path like "/srv/*.txt" because "texts are for everybody"
list: allow file_list when agent.name == "default"
careful: deny file_write
"""
CALL = {"tool": "file_read", "input": {"path": "/srv/a.txt"}}

PROGRAM = """
import json, sys
from policy.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def run(*arguments: str, input: str = "") -> tuple[str, set[str]]:
    """Return what a process of its own prints, and the modules it has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        input=input,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return done.stdout, set(json.loads(done.stderr.splitlines()[-1]))


def test_a_plain_decision_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text(POLICY, encoding="utf-8")
    printed, imported = run("decide", str(tmp_path), input=json.dumps(CALL))
    answer = json.loads(printed)
    assert (answer["verdict"], answer["reasons"][0]["rule"]) == ("allow", "read")
    assert sorted(imported & HEAVY) == []


@pytest.mark.parametrize("flag", ["-O", "-OO"])
def test_a_python_that_leaves_checks_and_docstrings_out_decides_alike(
    flag: str, tmp_path: Path
) -> None:
    (tmp_path / "a.policy").write_text(POLICY, encoding="utf-8")
    plain, _ = run("decide", str(tmp_path), input=json.dumps(CALL))
    done = subprocess.run(
        [sys.executable, flag, "-c", PROGRAM, "decide", str(tmp_path)],
        input=json.dumps(CALL),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout == plain


def test_generated_code_is_for_whoever_asks_again(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text(POLICY, encoding="utf-8")
    alone, _ = run("decide", str(tmp_path), input=json.dumps(CALL))
    both, imported = run("decide", str(tmp_path), input=f"{json.dumps(CALL)}\n" * 2)
    assert both == alone * 2
    assert {"policy.decision.quick", "policy.program.generated"} <= imported


def test_what_a_policy_needs_is_imported_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text(
        "policy for every agent\n\ndefault deny\n"
        'look: allow bash_exec when runs only "git status"\n',
        encoding="utf-8",
    )
    (tmp_path / "placet.toml").write_text('[timeouts]\ndefault = "30s"\n', encoding="utf-8")
    call = {"tool": "bash_exec", "input": {"command": "git status"}}
    printed, imported = run("decide", str(tmp_path), input=json.dumps(call))
    assert json.loads(printed)["verdict"] == "allow"
    assert {"tomllib", "policy.commands.understander", "policy.reload.settings_file"} <= imported


@pytest.mark.parametrize("arguments", [("--version",), ("--help",)])
def test_the_first_words_import_no_part_of_the_engine(arguments: tuple[str, ...]) -> None:
    _, imported = run(*arguments)
    assert sorted(imported & (ENGINE | {"policy.checks", "policy.syntax", "policy.catalog"})) == []


@pytest.mark.parametrize("command", ["decide", "check", "explain", "fmt", "test"])
def test_the_help_of_a_command_imports_no_model(command: str) -> None:
    _, imported = run(command, "--help")
    assert sorted(imported & {"pydantic", "lark", "sqlglot", "policy.service"}) == []


def test_named_tuples_of_the_engine_are_made_without_their_types() -> None:
    making = re.compile(r"^from typing import .*NamedTuple|\bnamedtuple\(", re.MULTILINE)
    made = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "policy").rglob("*.py")
        if making.search(path.read_text(encoding="utf-8"))
    }
    assert made == set()


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION
