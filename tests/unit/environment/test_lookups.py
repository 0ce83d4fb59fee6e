"""Look-ups on the disk: wildcards as bash expands them, contents of trees, and limits."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from policy.environment import DiskLookups, follow_links
from policy.model import DiskAnswer, DiskQuery, Exclusions


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name in ("a/b", "c", ".h"):
        (tmp_path / "ws" / name).mkdir(parents=True)
    for name in ("a/x.txt", "a/b/y.txt", "c/x.txt", ".h/x.txt", "[a].txt"):
        (tmp_path / "ws" / name).touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/o.txt").touch()
    (tmp_path / "ws/a/l").symlink_to("../../outside")
    (tmp_path / "ws/a/b/up").symlink_to("..")
    return (tmp_path / "ws").resolve()


def look(
    here: Path, glob: str = "", *, most: int = 1000, left: Exclusions | None = None, **said: bool
) -> DiskAnswer:
    steps = tuple(step for step in glob.split("/") if step)
    asked = DiskQuery(place=str(here), spelled=str(here), steps=steps, exclusions=left, **said)
    return DiskLookups(follow_links, most=most).look_up(asked)


def ways(seen: DiskAnswer, here: Path) -> set[str]:
    """Return all that was found, as it is spelled below the folder."""
    plain = {way for held in seen.contents for found in held.names.values() for way in found}
    return plain | {led.removeprefix(f"{here}/") for led in seen.linked_paths}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash says what its wildcards name")
@pytest.mark.parametrize(
    "glob",
    ["*", "a/*", "*/x.txt", "*/*", "?/*/*", "*/l/o.txt", "*/l/*", ".h/*", ".[!.]*", "*/../c/x.txt",
     "*/b/../x.txt", "*/*/up/*", "a/b/up/up/*", "x*", "*/b/y*"],
)  # fmt: skip
def test_a_wildcard_names_what_bash_names(glob: str, here: Path) -> None:
    told = subprocess.run(
        ["bash", "-c", f"shopt -s nullglob; printf '%s\\n' {glob}"],
        cwd=here, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(told.stdout.split()) - ways(look(here, glob), here) == set()


def test_only_what_lies_behind_a_link_or_dots_leads_off(here: Path) -> None:
    assert look(here, "*/x.txt").linked_paths == ()
    assert look(here, "*/l/o.txt").linked_paths == (f"{here}/a/l/o.txt",)
    assert set(look(here, "*/../c").linked_paths) == {f"{here}/a/../c", f"{here}/c/../c"}


def test_hidden_names_are_named_where_the_wildcard_spells_the_dot_or_takes_all(here: Path) -> None:
    assert ".h/x.txt" not in ways(look(here, "*/x.txt"), here)
    assert ".h/x.txt" in ways(look(here, ".?/x.txt"), here)
    assert ".h/x.txt" in ways(look(here, "*/x.txt", lenient=True), here)


def test_a_tree_holds_links_and_goes_through_them_only_where_they_are_followed(here: Path) -> None:
    found = look(here, tree=True)
    assert {"a/l", "a/b/up", ".h/x.txt"} <= ways(found, here)
    assert found.linked_paths == ()
    followed = look(here, tree=True, follow_links=True)
    assert set(followed.linked_paths) == {f"{here}/a/l", f"{here}/a/b/up"}
    assert any("o.txt" in held.names for held in followed.contents)
    assert followed.complete


def test_a_file_with_other_names_is_told_of_what_is_written(here: Path) -> None:
    (here / "c/h.txt").hardlink_to(here.parent / "outside/o.txt")
    assert look(here, "c/*", hard_links=True).shared == (f"{here}/c/h.txt",)
    assert look(here, "c/*").shared == ()


@pytest.mark.parametrize("follows", [False, True])
def test_beyond_the_bound_a_look_is_not_whole(follows: bool, here: Path) -> None:
    for number in range(100):
        (here / f"c/{number}").touch()
    assert not look(here, most=50, tree=True, follow_links=follows).complete
    assert look(here, most=500, tree=True, follow_links=follows).complete
    assert not look(here, "*/*", most=50).complete


def test_the_bound_is_that_of_all_looks_together_and_the_same_look_is_made_once(here: Path) -> None:
    looking = DiskLookups(follow_links, most=25)
    first = DiskQuery(place=str(here), spelled=str(here), tree=True)
    assert looking.look_up(first).complete
    (here / "c/new").touch()
    assert looking.look_up(first) is looking.look_up(first)
    second = DiskQuery(place=str(here / "a"), spelled=str(here / "a"), tree=True)
    third = DiskQuery(place=str(here / "a/b"), spelled=str(here / "a/b"), tree=True)
    assert not (looking.look_up(second).complete and looking.look_up(third).complete)


def test_a_brief_look_leaves_what_is_long_to_another(here: Path) -> None:
    for number in range(100):
        (here / f"c/{number}").touch()
    looking = DiskLookups(follow_links)
    asked = DiskQuery(place=str(here), spelled=str(here), tree=True)
    assert looking.look_up_briefly(asked, most=50) is None
    seen = looking.look_up(asked)
    assert seen.complete
    assert looking.look_up_briefly(asked, most=50) is seen


def test_hidden_names_are_passed_over_but_for_those_that_an_ignore_file_shows(here: Path) -> None:
    (here / "a/.env").touch()
    (here / "a/.other").touch()
    left = Exclusions(hidden=True, may_show_hidden=True)
    assert ways(look(here, tree=True, left=left), here).isdisjoint({".h", ".h/x.txt", "a/.env"})
    (here / "a/.ignore").write_text("# a comment\n*.pyc\n!/.env\n")
    seen = ways(look(here, tree=True, left=left), here)
    assert "a/.env" in seen
    assert seen.isdisjoint({".h", "a/.other", "a/.ignore"})


@pytest.mark.parametrize("line", ["!**", "!.[e]nv", "!.e\\nv", "!.*", "!/sub/.ENV"])
def test_a_line_of_an_ignore_file_shows_all_that_it_may_mean(line: str, here: Path) -> None:
    (here / "a/.env").touch()
    (here.parent / ".gitignore").write_text(f"{line}\n")
    assert "a/.env" in ways(
        look(here, tree=True, left=Exclusions(hidden=True, may_show_hidden=True)), here
    )


def test_an_ignore_file_that_cannot_be_read_may_show_every_name(here: Path) -> None:
    os.mkfifo(here / ".ignore")
    assert ".h/x.txt" in ways(
        look(here, tree=True, left=Exclusions(hidden=True, may_show_hidden=True)), here
    )


def test_nothing_is_left_out_where_links_are_followed(here: Path) -> None:
    seen = look(here, tree=True, follow_links=True, left=Exclusions(hidden=True))
    assert ".h/x.txt" in ways(seen, here)


def test_a_name_that_letters_beyond_ascii_spell_is_not_left_out_by_a_glob(here: Path) -> None:
    (here / "\u00e4.txt").touch()
    left = Exclusions(files=("*.txt",), folders=("b",))
    seen = ways(look(here, tree=True, left=left), here)
    assert "\u00e4.txt" in seen
    assert seen.isdisjoint({"a/x.txt", "a/b"})
