"""What starting a process costs, and that its decisions do not depend on Python's options."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from policy.version import VERSION

ROOT = Path(__file__).resolve().parents[2]

# Extras, which an installation may not have: only what needs one imports it.
EXTRAS = frozenset({"anyio", "httpx2", "mcp", "sqlglot", "sse_starlette", "starlette", "uvicorn"})

# What a policy without settings and servers does not need.
NEEDLESS = frozenset({"policy.generation.settings_tables", "policy.mcp", "policy.pins"})

POLICY = """policy for every agent

default deny
read: allow file_read when reads only "/srv/*.txt" because "texts are for everybody"
look: allow bash_exec when runs only "git status"
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


def run(*arguments: str, input: str = "", flags: tuple[str, ...] = ()) -> tuple[str, set[str]]:
    """Return what a process of its own prints, and the modules it has imported at its end."""
    done = subprocess.run(
        [sys.executable, *flags, "-c", PROGRAM, *arguments],
        input=input,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return done.stdout, set(json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rules")
    (folder / "a.policy").write_text(POLICY, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def plain(rules: Path) -> tuple[str, set[str]]:
    """What a process without options of Python decides, and imports for it."""
    return run("decide", str(rules), input=json.dumps(CALL))


def test_a_decision_imports_no_extra_and_nothing_of_servers_that_are_not_there(
    plain: tuple[str, set[str]],
) -> None:
    printed, imported = plain
    answer = json.loads(printed)
    assert (answer["verdict"], answer["reasons"][0]["rule"]) == ("allow", "read")
    assert sorted(imported & {*EXTRAS, *NEEDLESS}) == []


@pytest.mark.parametrize("flag", [pytest.param("-O", marks=pytest.mark.long), "-OO"])
def test_a_python_that_leaves_checks_and_docstrings_out_decides_alike(
    flag: str, rules: Path, plain: tuple[str, set[str]]
) -> None:
    without, _ = run("decide", str(rules), input=json.dumps(CALL), flags=(flag,))
    assert without == plain[0]


@pytest.mark.parametrize("arguments", [("--version",), ("--help",)])
def test_the_first_words_import_no_part_of_the_engine(arguments: tuple[str, ...]) -> None:
    _, imported = run(*arguments)
    assert sorted(imported & {"policy.checks", "policy.syntax", "policy.catalog"}) == []


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION
