"""Programs that rewrite the files they find: the disk shows which files these are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpora.judging import judge, lay_down

_POLICY = """\
policy for every agent

default allow
paths fixed = "**/.github/**", "**/generated/**", "src/kept.py" except "**/*.md"
fixed: deny * when writes fixed
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a workflow, a Python file that is fenced, and links to files."""
    folder = tmp_path_factory.mktemp("home") / "ws"
    names = "src/a.py .github/ci.yml lib/generated/x.py other/a.py other/notes.md"
    lay_down([["file", f"{folder}/{name}"] for name in names.split()])
    lay_down([["file", f"{folder}/node_modules/.github/a.py"]])
    lay_down([["link", f"{folder}/linked/ci.py", "../.github/ci.yml"]])
    return folder


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("ruff format .", "deny"),  # lib/generated/x.py
        ("ruff format lib", "deny"),
        ("ruff format lib/generated/x.py", "deny"),
        ("ruff format src other", "allow"),
        ("ruff format linked", "deny"),  # it writes where the link leads
        ("black linked", "allow"),  # it does not follow links
        ("ruff check --fix .github", "deny"),  # the word may name a file
        ("prettier --write .github", "deny"),
        ("prettier --write src other", "allow"),
        ("gofmt -w .", "allow"),
        ("cargo fmt", "allow"),
    ],
)
def test_a_formatter_writes_the_files_of_its_kind(
    command: str, verdict: str, workspace: Path
) -> None:
    found = judge(
        _POLICY, "bash_exec", {"command": command}, workspace=workspace, home=workspace.parent
    )
    assert found.verdict.value == verdict
