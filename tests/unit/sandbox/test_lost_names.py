"""What somebody replaces outside while a confined program runs ends the program."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from policy.generation import Reach
from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox import Bubblewrap, SandboxPlan, plan_of
from tests.unit.sandbox.confining import meanwhile, needs_bubblewrap, plan_in, run

pytestmark = needs_bubblewrap

WAIT = "touch out/ready; sleep 20; echo survived"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    hooks = tmp_path / ".git" / "hooks"
    hooks.mkdir(parents=True)
    (tmp_path / ".git" / "config").write_text("[core]\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".env").write_text("secret")
    return tmp_path


def hiding(work: Path) -> SandboxPlan:
    """Return a plan that hides what has the name `.env`, as rules do."""
    named = NamedResources(rule="no-env", resources=ResourceSet(included=("**/.env",)))
    reads = Bound(without=(named,))
    return plan_of(
        Reach(),
        folder=str(work),
        home="/home/somebody",
        workspace=str(work),
        confinement=Confinement(reads=reads),
    )


def overwrite(path: Path, text: str = "new") -> None:
    """Replace a file as git and most editors do."""
    path.with_name("saved").write_text(text)
    os.replace(path.with_name("saved"), path)


def move_and_copy(path: Path) -> None:
    shutil.copytree(rename(path), path)


def make_anew(path: Path) -> None:
    """Remove and make a file, as git does in a checkout: it may get the number that it had."""
    path.unlink()
    path.write_text("new")


def rename(path: Path) -> Path:
    return path.rename(path.with_name(f"{path.name}~"))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (overwrite, ".git/config"),
        (Path.unlink, ".git/config"),
        (make_anew, ".git/config"),
        (rename, ".git/config"),
        (rename, ".git/hooks"),
        (shutil.rmtree, ".git/hooks"),
        (rename, ".git"),
        (overwrite, "sub/.env"),
        (rename, "sub/.env"),
        (move_and_copy, "sub"),
    ],
)
def test_a_program_ends_when_a_protected_name_is_lost(
    change: Callable[[Path], object],
    name: str,
    work: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    done = meanwhile(hiding(work), lambda: change(work / name), WAIT)
    assert (done.returncode, done.stdout) == (-9, "")
    assert f"{work / name} was replaced, renamed or removed outside" in caplog.text


def test_a_command_moves_no_hidden_file_while_another_one_starts(work: Path) -> None:
    """It would not be at the place that the other sandbox hides."""
    other = []

    def start_another() -> None:
        (work / "moves").touch()
        other.append(run(hiding(work), "cat */.env; ls */.env"))

    moving = (
        "touch out/ready; until [ -e moves ]; do sleep 0.01; done; "
        "until [ -e go ]; do mv sub moved; mv moved sub; done 2> out/errors; true"
    )
    done = meanwhile(hiding(work), start_another, moving)
    assert done.returncode == 0
    assert "secret" not in other[0].stdout
    assert other[0].stdout == "sub/.env\n"
    assert "busy" in (work / "out" / "errors").read_text()
    assert (work / "sub" / ".env").read_text() == "secret"


@pytest.mark.parametrize("name", ["nested/settings", "nested/cache", "nested"])
def test_configured_paths_in_a_writable_folder_are_protected_as_well(name: str, work: Path) -> None:
    nested = work / "nested"
    (nested / "cache").mkdir(parents=True)
    (nested / "settings").touch()
    reach = Reach(reads=(str(nested / "settings"),), writes=(str(nested / "cache"),))
    change = shutil.rmtree if name == "nested/cache" else rename
    done = meanwhile(plan_in(work, reach), lambda: change(work / name), WAIT)
    assert (done.returncode, done.stdout) == (-9, "")


def test_other_changes_end_no_program(work: Path) -> None:
    def change() -> None:
        (work / ".git" / "config").write_text("[core]\n\tbare = false\n")
        (work / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
        overwrite(work / ".git" / "hooks" / "pre-commit")
        overwrite(work / "README")
        overwrite(work / ".git" / "index")

    # What the program does itself counts as little: it cannot touch what is protected.
    own = (
        "mv sub moved; chmod 700 .git; mv .git x; mv .git/config x; rm .git/config; "
        "cat sub/.env; touch out/ready; until [ -e go ]; do sleep 0.01; done; sleep 0.03; "
        "echo survived"
    )
    done = meanwhile(hiding(work), change, own)
    assert done.stdout == "survived\n"
    assert done.stderr.count("busy") == 4


def test_only_what_has_its_name_outside_is_watched(work: Path) -> None:
    hidden = (str(work / "sub"), str(work / "gone"), "/etc/hosts", "/etc/resolv.conf")
    plan = replace(plan_in(work), masked=hidden)
    with Bubblewrap().confined(plan, ("true",)) as start:
        watched = {os.path.relpath(path, work) for path in start.guarded}
    assert watched == {".git", ".git/config", ".git/hooks", "sub"}


def test_what_is_in_a_writable_folder_is_watched_and_the_roots_are_not(work: Path) -> None:
    data, sub = work / "data", work / "work" / "sub"
    for each in (data / "x", sub / ".git" / "hooks", sub / "cache", work / "work" / "ro" / "out"):
        each.mkdir(parents=True)
    reads = (data, data / "x", sub / ".git", work / "work" / "ro")
    writes = (sub / "cache", work / "work" / "ro" / "out")
    reach = Reach(reads=tuple(map(str, reads)), writes=tuple(map(str, writes)))
    with Bubblewrap().confined(plan_in(work / "work", reach), ("true",)) as start:
        watched = {os.path.relpath(path, work / "work") for path in start.guarded}
    assert watched == {"ro", "sub", "sub/.git", "sub/cache"}


def test_files_in_a_read_only_folder_are_watched_with_it(work: Path) -> None:
    kept = (str(work / "rules"), str(work / "rules" / "a.policy"))
    plan = replace(plan_in(work), kept=kept, immovable=())
    (work / "rules").mkdir()
    (work / "rules" / "a.policy").touch()
    with Bubblewrap().confined(plan, ("true",)) as start:
        assert start.guarded == (kept[0],)
