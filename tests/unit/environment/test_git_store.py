"""Whether a move of git changes one file: answered by the repository, and unknown beyond it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from policy.environment import Disk
from policy.model import GitMove

_AS = {
    **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
_SETTINGS = ".claude/settings.json"


def _git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", *words], cwd=folder, env={**os.environ, **_AS}, check=True, capture_output=True
    )


def _commit(folder: Path, branch: str, *names: str, text: str = "x") -> None:
    """Commit files on a new branch of `main`, and go back to it."""
    _git(folder, "switch", "-q", "-c", branch, "main")
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", branch)
    _git(folder, "switch", "-q", "main")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository without settings on `main`, and branches that have some."""
    folder = tmp_path_factory.mktemp("work") / "project"
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "main")
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("x\n")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "one")
    _commit(folder, "plain", "src/b.py")
    _commit(folder, "evil", _SETTINGS)
    _commit(folder, "beside", ".claude/commands/x.md")
    _git(folder, "switch", "-q", "-c", "linked", "main")
    (folder / ".claude").symlink_to("src")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "linked")
    _git(folder, "switch", "-q", "main")
    _git(folder, "update-ref", "refs/remotes/origin/theirs", "evil")
    (folder / "src" / "a.py").write_text("y\n")
    _git(folder, "stash")
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.local.json").write_text("{}")
    return folder


def _asked(
    project: Path, *revisions: str, merges: bool = False, file: str = _SETTINGS, at: str = "."
) -> bool | None:
    restores = Disk().resolvers().restores
    assert restores is not None
    folder = os.path.normpath(project / at)
    return restores(GitMove(folder=folder, revisions=revisions, merges=merges), str(project / file))


@pytest.mark.parametrize(
    ("revisions", "changes"),
    [
        (("HEAD",), False),
        (("HEAD", "plain"), False),
        (("HEAD", "plain", "src/a.py"), False),
        (("HEAD", "no-such-branch"), False),
        (("HEAD", "evil"), True),
        (("HEAD", "evil~1"), False),
        (("HEAD", "theirs"), True),  # git makes a branch of the one of a remote
        (("HEAD", "linked"), True),  # a link in place of the folder
        (("HEAD", "beside"), False),
        ((), None),
    ],
)
def test_a_move_to_revisions(
    project: Path, revisions: tuple[str, ...], changes: bool | None
) -> None:
    assert _asked(project, *revisions) is changes
    if revisions:
        assert _asked(project, *revisions, at="src") is changes


@pytest.mark.parametrize(
    ("revision", "changes"), [("plain", False), ("stash@{0}", False), ("beside", True)]
)
def test_a_merge_may_move_files_into_a_folder_that_changed(
    project: Path, revision: str, changes: bool
) -> None:
    assert _asked(project, "HEAD", revision, merges=True) is changes


def test_a_file_that_git_does_not_store_stays(project: Path) -> None:
    for revision in ("plain", "evil", "HEAD"):
        assert _asked(project, "HEAD", revision, file=".claude/settings.local.json") is False


def test_a_stored_file_that_was_edited_is_put_back(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / ".claude").mkdir()
    settings = tmp_path / _SETTINGS
    settings.write_text("{}")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-q", "-m", "one")
    assert _asked(tmp_path, "HEAD") is False
    settings.write_text('{"hooks": {}}')
    assert _asked(tmp_path, "HEAD") is True
    settings.unlink()
    assert _asked(tmp_path, "HEAD") is True


def _blob(folder: Path, text: str) -> str:
    """Store a blob, and return its id."""
    done = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=folder,
        input=text,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout.strip()


@pytest.fixture
def tracked(tmp_path: Path) -> Path:
    """A clean repository that tracks the settings of an agent."""
    _git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / ".claude").mkdir()
    (tmp_path / _SETTINGS).write_text("{}")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def test_what_the_index_holds_may_be_put_on_the_disk(tracked: Path) -> None:
    evil = _blob(tracked, "evil")
    assert [_asked(tracked, "HEAD", merges=each) for each in (False, True)] == [False, False]

    _git(tracked, "update-index", "--cacheinfo", f"100644,{evil},{_SETTINGS}")

    assert [_asked(tracked, "HEAD", merges=each) for each in (False, True)] == [True, True]
    # As git does it:
    _git(tracked, "restore", ".")
    assert (tracked / _SETTINGS).read_text() == "evil"


def test_a_side_of_a_conflict_in_the_index_may_be_put_on_the_disk(tracked: Path) -> None:
    own, evil = _blob(tracked, "{}"), _blob(tracked, "evil")
    lines = f"0 {'0' * 40}\t{_SETTINGS}\n100644 {own} 1\t{_SETTINGS}\n"
    lines += f"100644 {own} 2\t{_SETTINGS}\n100644 {evil} 3\t{_SETTINGS}\n"
    subprocess.run(
        ["git", "update-index", "--index-info"],
        cwd=tracked,
        input=lines,
        check=True,
        encoding="utf-8",
    )
    assert _asked(tracked, "HEAD") is True
    _git(tracked, "checkout", "--theirs", "--", ".")
    assert (tracked / _SETTINGS).read_text() == "evil"


def test_a_link_in_the_index_in_place_of_the_folder(tracked: Path) -> None:
    link = _blob(tracked, "elsewhere")
    _git(tracked, "update-index", "--force-remove", _SETTINGS)
    assert _asked(tracked, "HEAD") is False
    _git(tracked, "update-index", "--add", "--cacheinfo", f"120000,{link},.claude")
    assert _asked(tracked, "HEAD") is True


def test_settings_that_are_staged_as_they_are_stay_in_a_merge(tracked: Path) -> None:
    (tracked / _SETTINGS).write_text('{"x": 1}')
    _git(tracked, "add", "-A")
    assert _asked(tracked, "HEAD", merges=True) is False


def test_another_repository_changes_nothing_here(project: Path, tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    for folder in (tmp_path, tmp_path / "gone", project.parent):
        assert _asked(project, "HEAD", "evil", at=os.path.relpath(folder, project)) is False


def test_a_repository_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert _asked(tmp_path, "HEAD") is None
