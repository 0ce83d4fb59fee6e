"""The folder of each session tree: named by a hash, made once, checked at each use."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.environment import SessionWorkspaces, WorkspaceUnusable, open_workspaces
from policy.model import Caller

WEEK = timedelta(weeks=1)
ANNA = Caller(user="anna", session="s")
TEXTS = st.text(st.characters(codec=None), max_size=20)


@pytest.fixture
def workspaces(tmp_path: Path) -> SessionWorkspaces:
    return open_workspaces(str(tmp_path / "all" / "of them"), keep=None)


def age(folder: str, *, days: int) -> None:
    then = time.time() - days * 86_400
    os.utime(f"{folder}.used", (then, then))


def test_a_workspace_is_made_for_its_owner_alone(workspaces: SessionWorkspaces) -> None:
    folder = workspaces.use(ANNA)
    assert folder == workspaces.path_of(ANNA)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    Path(folder, "kept").touch()
    os.chmod(folder, 0o777)
    assert workspaces.use(ANNA) == folder
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.listdir(folder) == ["kept"]


def test_sub_agents_share_the_workspace_of_their_root(workspaces: SessionWorkspaces) -> None:
    below = Caller(agent="b", user="bob", session="other", parent=Caller(agent="a", parent=ANNA))
    assert workspaces.path_of(below) == workspaces.path_of(ANNA)


@given(st.lists(st.tuples(st.none() | TEXTS, TEXTS), unique=True, max_size=5))
def test_any_two_sessions_have_two_plain_names(sessions: list[tuple[str | None, str]]) -> None:
    found = SessionWorkspaces(root="/all")
    paths = [found.path_of(Caller(user=user, session=name)) for user, name in sessions]
    assert len(set(paths)) == len(sessions)
    for path in paths:
        assert os.path.normpath(path) == path
        assert found.containing(f"{path}/a/b") == found.containing(path) == path


@pytest.mark.parametrize("session", ["../x", "/etc", "\0", "\ud800", "é" * 300_000, ""])
def test_a_hostile_session_is_just_a_hash(workspaces: SessionWorkspaces, session: str) -> None:
    folder = workspaces.use(Caller(session=session))
    assert os.path.dirname(os.path.realpath(folder)) == workspaces.root
    assert len(os.path.basename(folder)) == 32


@pytest.mark.parametrize("path", ["", "/all", "/all/x", f"/allx/{'0' * 32}", f"/all/{'g' * 32}"])
def test_other_paths_are_in_no_workspace(path: str) -> None:
    assert SessionWorkspaces(root="/all").containing(path) is None


@pytest.mark.parametrize("ending", ["", ".used"])
def test_a_link_at_the_place_is_refused(
    workspaces: SessionWorkspaces, tmp_path: Path, ending: str
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    Path(workspaces.path_of(ANNA) + ending).symlink_to(target / ending)
    with pytest.raises(WorkspaceUnusable, match="cannot be used"):
        workspaces.use(ANNA)
    assert os.listdir(target) == []


def test_a_link_at_the_place_of_all_is_refused(
    workspaces: SessionWorkspaces, tmp_path: Path
) -> None:
    os.rename(workspaces.root, tmp_path / "moved")
    os.symlink(tmp_path / "moved", workspaces.root)
    with pytest.raises(WorkspaceUnusable, match="is reached by a link now"):
        workspaces.use(ANNA)
    assert os.listdir(tmp_path / "moved") == []


def test_a_folder_that_others_may_write_is_refused(workspaces: SessionWorkspaces) -> None:
    os.chmod(workspaces.root, 0o770)
    with pytest.raises(WorkspaceUnusable, match="others may write in"):
        workspaces.use(ANNA)


def test_workspaces_and_policy_are_apart(tmp_path: Path) -> None:
    policy = tmp_path / "rules"
    policy.mkdir()
    with pytest.raises(WorkspaceUnusable, match="contains the folder of workspaces"):
        open_workspaces(str(policy / "all"), policy=str(policy))
    with pytest.raises(WorkspaceUnusable, match="is in the folder of workspaces"):
        open_workspaces(str(tmp_path), policy=str(policy))
    # Later on, too: the policy may be reached by a link.
    elsewhere = open_workspaces(str(tmp_path / "all"), policy=str(tmp_path / "link"))
    (tmp_path / "link").symlink_to(elsewhere.path_of(ANNA))
    with pytest.raises(WorkspaceUnusable, match="keep them apart"):
        elsewhere.use(ANNA)


def test_no_workspaces_in_the_workspace_of_a_session(workspaces: SessionWorkspaces) -> None:
    with pytest.raises(WorkspaceUnusable, match="is in the workspace of a session"):
        open_workspaces(f"{workspaces.use(ANNA)}/more")


def test_first_calls_at_the_same_time_make_one_folder(workspaces: SessionWorkspaces) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(workspaces.use, [ANNA] * 40))
    assert found == {workspaces.path_of(ANNA)}
    assert len(os.listdir(workspaces.root)) == 2


def test_only_what_was_not_used_for_long_is_removed(
    workspaces: SessionWorkspaces, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    old, new = workspaces.use(ANNA), workspaces.use(Caller(session="new"))
    Path(old, "link").symlink_to(outside)
    Path(old, "folder").mkdir()
    os.link(outside / "precious", Path(old, "folder", "name"))
    # What runs in a workspace cannot make it look old.
    os.utime(new, (0, 0))
    age(old, days=8)
    age(new, days=6)
    Path(workspaces.root, "not ours").mkdir()
    workspaces.clean(WEEK)
    assert {each.name for each in Path(workspaces.root).iterdir()} == {
        "not ours",
        os.path.basename(new),
        f"{os.path.basename(new)}.used",
    }
    assert (outside / "precious").exists()


def test_a_link_in_place_of_an_old_workspace_is_removed_alone(
    workspaces: SessionWorkspaces, tmp_path: Path
) -> None:
    folder = workspaces.use(ANNA)
    age(folder, days=8)
    (tmp_path / "precious").mkdir()
    os.rmdir(folder)
    os.symlink(tmp_path / "precious", folder)
    workspaces.clean(WEEK)
    assert os.listdir(workspaces.root) == []
    assert (tmp_path / "precious").exists()


def test_a_session_that_comes_back_begins_anew(workspaces: SessionWorkspaces) -> None:
    folder = workspaces.use(ANNA)
    Path(folder, "note").touch()
    age(folder, days=8)
    workspaces.clean(WEEK)
    assert os.listdir(workspaces.use(ANNA)) == []


def test_what_is_used_now_is_kept_however_old(tmp_path: Path) -> None:
    kept = open_workspaces(str(tmp_path / "all"))
    folder = kept.use(ANNA)
    age(folder, days=800)
    kept.use(ANNA)
    kept.clean(WEEK)
    assert os.path.isdir(folder)
