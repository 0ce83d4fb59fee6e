"""What is allowed in a folder of a larger repository touches nothing outside, as git shows."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import policy
from tests.examples import examples
from tests.laws.workspaces import allows

_POLICY = """\
policy for every agent

default allow
read: deny bash_exec when reads outside workspace
written: deny bash_exec when writes outside workspace
"""
_OUTSIDE = "OUTSIDE-4711"
_SETTINGS = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "LC_ALL": "C",
} | {
    f"GIT_{who}_{what}": "a@b.example"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}
_COMMANDS = (
    "diff", "diff --cached", "diff --relative", "diff --relative=top", "diff --stat",
    "diff --stat -p", "diff --relative --no-relative", "diff-index -p HEAD", "diff-files -p",
    "show", "show -s", "show --stat", "log -p", "log", "log -p --relative", "log -1 -m -c",
    "stash", "stash push", "stash push -u", "stash list -p", "stash show -p", "stash pop",
    "checkout", "checkout -f", "restore", "restore -s HEAD~1", "reset --hard", "reset --keep",
    "switch", "clean -fd", "rm -rf", "grep K", "grep --no-index K", "cat-file -p", "archive HEAD",
    "add -A", "add -u", "commit -am m", "commit -m m", "merge", "rebase", "cherry-pick", "revert",
    "format-patch --stdout -1", "sparse-checkout set", "read-tree -u --reset", "blame", "status",
    "checkout -b new", "switch -c other", "difftool -y -x cat",
)  # fmt: skip
_OPERANDS = (
    "", "", "HEAD", "HEAD~1", "side", ".", "src", "src/m.py", "-- src", "-- .", "-- ':!src'",
    "':!src'", "HEAD -- src", "HEAD~1 -- ':!x'", "HEAD:top/o.txt", "HEAD:./src/m.py", ":top/o.txt",
    "HEAD:top/o.txt -- src", "HEAD side", "HEAD~1..HEAD", "'*'", "'*.txt'", "-- '*.txt'", "../top",
    "HEAD:", "side src", "src/n.py", "both", "-- both",
)  # fmt: skip


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("above") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository whose commits, branches and changes are inside and outside of `ws`."""
    top = tmp_path_factory.mktemp("original")
    files = ("top/o.txt", "ws/src/m.py", "ws/a.txt")
    _run("git init -q -b main", top)
    for text in ("first", "second"):
        _write(top, files, text)
        _run(f"git add -A && git commit -qm {text}", top)
        if text == "first":
            _run("git checkout -qb side", top)
            _write(top, (*files, "ws/both"), "side")
            _run("git add -A && git commit -qm side && git branch src/n.py", top)
            _run("git checkout -q main", top)
    _write(top, files, "stashed")
    _run("git stash -q", top)
    _write(top, files, "changed")
    return top


def _write(top: Path, files: tuple[str, ...], text: str) -> None:
    for name in files:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        outside = f"{_OUTSIDE}\n" if name.startswith("top") else "K\n"
        (top / name).write_text(f"{outside}{text}\n")


def _run(script: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=_SETTINGS,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout.decode(errors="replace")


@contextmanager
def _copied(original: Path) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        top = Path(os.path.realpath(folder)) / "repository"
        shutil.copytree(original, top, symlinks=True)
        yield top


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(command=st.sampled_from(_COMMANDS), operands=st.sampled_from(_OPERANDS))
@example(command="diff", operands="")
@example(command="stash push", operands="-- ':!src'")
@example(command="checkout", operands="side")
@example(command="show -s", operands="HEAD:top/o.txt")
@example(command="diff", operands="src/n.py")
def test_an_allowed_command_of_git_stays_in_its_folder(
    generation: policy.Generation, original: Path, command: str, operands: str
) -> None:
    with _copied(original) as top:
        script = f"git {command} {operands}"
        if not allows(generation, script, top / "ws"):
            return
        before = (top / "top/o.txt").read_text()
        shown = _run(script, top / "ws")

        assert _OUTSIDE not in shown
        assert (top / "top/o.txt").is_file()
        assert (top / "top/o.txt").read_text() == before


@pytest.mark.parametrize(
    "script",
    [
        "git diff --relative", "git diff -- src", "git diff src/m.py", "git diff .", "git status",
        "git diff --stat", "git log", "git log -p -- src", "git show HEAD -- src", "git add src",
        "git stash push -- src", "git checkout -- src", "git checkout HEAD -- src", "git add .",
        "git restore src", "git grep K", "git grep K -- ':!x'", "git commit -m x", "git reset",
        "git checkout -b new", "git switch -c new", "git clean -fd", "git add -A src",
        "git blame a.txt", "git ls-files", "git fetch", "git push origin main",
    ],
)  # fmt: skip
def test_a_command_that_stays_in_its_folder_is_allowed(
    generation: policy.Generation, original: Path, script: str
) -> None:
    assert allows(generation, script, original / "ws")


def test_a_repository_that_begins_in_the_workspace_is_as_before(
    generation: policy.Generation, original: Path
) -> None:
    for command in ("git diff", "cd ws && git diff", "git stash", "git checkout side", "git show"):
        assert allows(generation, command, original)
