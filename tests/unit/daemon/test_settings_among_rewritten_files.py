"""Settings of an agent below a folder that is rewritten, and in the index of its repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit.daemon.test_settings_in_the_project import _git, _Project

_SETTINGS = ".claude/settings.json"


def _project(place: Path) -> _Project:
    """A clean repository that tracks the settings of its agent."""
    made = _Project(place)
    made.rules.mkdir()
    (made.rules / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    for name in (_SETTINGS, "src/a.py", "tests/a.py"):
        (made.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (made.folder / name).write_text("{}")
    _git(made.folder, "init", "-q", "-b", "main")
    _git(made.folder, "add", "-A")
    _git(made.folder, "commit", "-q", "-m", "one")
    return made


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> _Project:
    return _project(tmp_path_factory.mktemp("work"))


@pytest.mark.parametrize(
    "command",
    [
        "biome check --write .", "npx biome check --write .", "stylelint --fix .", "codespell -w .",
        "typos -w .", "rubocop -A .", "dart format .", "some-linter --fix=true ./", "xo --fix ..",
        "cd src && biome format --write ..", "typos --write-changes .claude/..",
        # Without an operand they work on the folder that they run in.
        "typos -w", "codespell -w", "rubocop -A", "standardrb --fix", "xo --fix",
        "biome check --write",
        "codespell -w -x src", "rubocop --only Style/Copyright -A", "npx stylelint --fix",
        "oxlint --config src --fix", "bundle exec rubocop -A",
    ],
)  # fmt: skip
def test_a_folder_that_unseen_code_rewrites_asks(project: _Project, command: str) -> None:
    verdict, reason = project.told(command)
    assert verdict == "ask"
    assert _SETTINGS in reason


@pytest.mark.parametrize(
    "command",
    [
        "biome check .", "biome check --write src", "stylelint .", "codespell .", "typos",
        "npx eslint .", "pytest tests", "pytest -x .", "ruff check .", "npm test", "npm run format",
        "npm run lint -- --fix", "mypy .", "rubocop -A src", "dart format src", "turbo run build",
        "mocha -w .", "python x.py .", "make fmt", "git commit -a -m x", "ruff check --fix .",
        "git stash -k", "git restore .", "git checkout -- .", "git stash pop --index",
        "yarn format", "just fmt", "typos -w src", "codespell -w -q 3 src", "codespell -w src/a.py",
        "cd src && typos -w", "npm run lint -- --fix --quiet",
        "make", "tsc", "mvn test", "gradle test", "dotnet test", "pre-commit run", "jest -u",
        "cargo build", "composer install", "poetry install", "apt-get install jq",
    ],
)  # fmt: skip
def test_what_does_not_rewrite_it_passes(project: _Project, command: str) -> None:
    assert project.told(command) == ("allow", "")


def test_what_an_earlier_call_put_into_the_index_asks(tmp_path: Path) -> None:
    project = _project(tmp_path)
    done = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=project.folder,
        input='{"disableAllHooks": true}',
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    entry = f"100644,{done.stdout.strip()},{_SETTINGS}"
    _git(project.folder, "update-index", "--cacheinfo", entry)
    for command in (
        "git stash -k", "git stash --keep-index", "git stash push -k -- src", "git restore .",
        "git checkout -- .", "git stash pop --index", "git checkout main",
    ):  # fmt: skip
        assert project.told(command)[0] == "ask", command
