"""What a program may touch, from what is configured and what is on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.generation import Reach
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox import CannotConfine, SandboxPlan, plan_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "work" / ".git" / "hooks").mkdir(parents=True)
    return tmp_path / "home"


def planned(home: Path, reach: Reach | None = None, *, kept: tuple[Path, ...] = ()) -> SandboxPlan:
    work = str(home / "work")
    return plan_of(
        reach or Reach(), folder=work, home=str(home), workspace=work, kept=map(str, kept)
    )


def test_the_workspace_may_be_written_and_nothing_else(home: Path) -> None:
    plan = planned(home)
    assert (plan.reads, plan.writes) == ((), (str(home / "work"),))
    assert plan.network == "none"


def test_what_runs_without_being_called_stays_read_only(home: Path) -> None:
    work = home / "work"
    (work / ".vscode").mkdir()
    plan = planned(home)
    assert plan.kept == (str(work / ".git" / "hooks"), str(work / ".vscode"))
    assert plan.immovable == (str(work / ".git"),)
    unkept = {str(work / name) for name in (".git/config", ".idea", ".claude")}
    assert unkept <= set(plan.unkept)


def test_the_settings_of_an_agent_stay_read_only_with_their_folder(home: Path) -> None:
    settings = home / "work" / ".claude" / "settings.json"
    settings.parent.mkdir()
    plan = planned(home, kept=(settings,))
    assert str(settings.parent) in plan.kept
    assert not [path for path in plan.unkept if ".claude" in path]


def test_files_of_the_policy_are_kept_only_where_they_could_be_written(home: Path) -> None:
    inside, outside = home / "work" / "rules", home / "rules"
    inside.mkdir()
    outside.mkdir()
    assert str(inside) in planned(home, kept=(inside, outside)).kept
    assert str(outside) not in planned(home, kept=(inside, outside)).kept


def test_a_folder_to_read_and_to_write_is_one_to_write(home: Path) -> None:
    cache = home / "cache"
    cache.mkdir()
    plan = planned(home, Reach(reads=("~/cache",), writes=(str(cache),)))
    assert (plan.reads, plan.writes) == ((), (str(cache), str(home / "work")))


def test_a_link_is_followed_when_the_plan_is_made(home: Path) -> None:
    (home / "data").mkdir()
    (home / "link").symlink_to(home / "data")
    assert planned(home, Reach(reads=("~/link",))).reads == (str(home / "data"),)


@pytest.mark.parametrize("path", ["/", "/proc", "/dev/shm", "/sys"])
def test_what_would_undo_the_sandbox_is_refused(home: Path, path: str) -> None:
    with pytest.raises(CannotConfine, match="too much"):
        planned(home, Reach(reads=(path,)))


def test_a_folder_above_the_home_folder_is_refused(home: Path) -> None:
    with pytest.raises(CannotConfine, match="too much"):
        planned(home, Reach(writes=(str(home.parent),)))


def test_a_link_to_the_root_is_refused(home: Path) -> None:
    (home / "link").symlink_to("/")
    with pytest.raises(CannotConfine, match="too much"):
        planned(home, Reach(reads=("~/link",)))


def test_a_path_that_is_gone_is_an_error(home: Path) -> None:
    with pytest.raises(CannotConfine, match=r"there is no .*/cache"):
        planned(home, Reach(writes=("~/cache",)))


def test_what_must_stay_read_only_cannot_stand_behind_a_link(home: Path) -> None:
    work = home / "work"
    (work / ".git").rename(work / "elsewhere")
    (work / ".git").symlink_to("elsewhere")
    with pytest.raises(CannotConfine, match=rf"hooks must .*{work}/\.git is a symbolic link"):
        planned(home)


def test_a_link_in_the_place_of_a_kept_file_is_named_to_the_caller(home: Path) -> None:
    (home / "work" / ".mcp.json").symlink_to("/tmp")
    with pytest.raises(CannotConfine, match=r"/\.mcp\.json must .* it is a symbolic link") as said:
        planned(home)
    assert said.value.for_caller


def test_settings_of_git_stay_read_only_since_they_name_programs(home: Path) -> None:
    (home / "work" / ".git" / "config").write_text("[core]\n")
    assert str(home / "work" / ".git" / "config") in planned(home).kept


def test_the_git_file_of_a_worktree_stays_read_only(home: Path) -> None:
    git = home / "work" / ".git"
    (git / "hooks").rmdir()
    git.rmdir()
    git.write_text("gitdir: /elsewhere\n")
    plan = planned(home)
    assert plan.kept == (str(git),)
    assert not any(".git" in path for path in plan.unkept)


def test_folders_between_are_immovable_up_to_the_outermost_one_to_write(home: Path) -> None:
    inner = home / "work" / "a" / "inner"
    (inner / ".git" / "hooks").mkdir(parents=True)
    plan = planned(home, Reach(writes=(str(inner),)))
    assert str(inner) in plan.writes
    assert str(home / "work" / "a") in plan.immovable


def test_what_is_to_be_read_in_a_folder_to_write_cannot_be_replaced(home: Path) -> None:
    hooks = home / "work" / "sub" / ".git" / "hooks"
    hooks.mkdir(parents=True)
    plan = planned(home, Reach(reads=(str(hooks),)))
    assert str(hooks) in plan.kept
    assert {str(hooks.parent), str(hooks.parents[1])} <= set(plan.immovable)


def test_no_folder_within_what_is_read_only_may_be_written(home: Path) -> None:
    inner = home / "work" / "kept" / "a" / "b"
    inner.mkdir(parents=True)
    work, kept = str(home / "work"), str(home / "work" / "kept")
    reach = Reach(reads=(str(inner),))
    plan = plan_of(reach, folder=work, home=str(home), workspace=work, kept=(kept,))
    assert {kept, str(inner)} <= set(plan.kept)
    assert [each for each in plan.immovable if each.startswith(kept)] == []


def test_libraries_are_read_whatever_the_rules_say(home: Path) -> None:
    library = home / "library"
    library.mkdir()
    work = str(home / "work")
    nothing = Bound(
        within=((NamedResources(rule="r", resources=ResourceSet(included=())),),), without=()
    )
    plan = plan_of(
        Reach(),
        folder=work,
        home=str(home),
        workspace=work,
        confinement=Confinement(reads=nothing),
        libraries=(str(library),),
    )
    assert (plan.reads, plan.writes) == ((str(library),), ())
