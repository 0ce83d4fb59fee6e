"""Following links as the kernel would."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.environment import Disk, follow_links
from tests.examples import examples


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").write_text("x")
    (tmp_path / "to-b").symlink_to("a/b")
    (tmp_path / "a" / "b" / "up").symlink_to("../../a")
    (tmp_path / "absolute").symlink_to(tmp_path / "a")
    (tmp_path / "dangling").symlink_to("a/new")
    (tmp_path / "a" / "b" / "dangling").symlink_to("../new")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("a/file", "a/file"),
        ("to-b", "a/b"),
        ("to-b/up/file", "a/file"),
        ("absolute/b/up/b", "a/b"),
        ("none", "none"),
        ("to-b/none/deeper", "a/b/none/deeper"),
        ("dangling", "a/new"),
        # `..` leaves the folder that the link really stands in, not the one it is spelled in.
        ("to-b/dangling", "a/new"),
    ],
)
def test_links_are_followed_as_far_as_they_lead(disk: Path, path: str, leads_to: str) -> None:
    assert follow_links(str(disk / path)) == os.path.realpath(disk / leads_to)


@pytest.mark.parametrize("path", ["loop", "loop/x", "a\0b", "x" * 300])
def test_what_cannot_be_known_is_none(disk: Path, path: str) -> None:
    assert follow_links(str(disk) + "/" + path) is None


def test_more_links_than_the_kernel_follows_are_unknown(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / str(number)).symlink_to(str(number + 1))
    assert follow_links(str(tmp_path / "0")) is None
    assert follow_links(str(tmp_path / "50")) == str(tmp_path / "60")


def test_a_link_out_of_a_folder_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "odd").symlink_to("none/../../etc")
    assert follow_links(str(tmp_path / "odd")) is None


def test_thousands_of_folders_that_do_not_exist_are_no_trouble() -> None:
    path = "/none" + "/a" * 2000
    assert follow_links(path) == path


def test_the_root_is_itself() -> None:
    assert follow_links("/") == "/"


def test_ways_through_proc_lead_every_process_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "root").symlink_to("/proc/self/root")
    (tmp_path / "status").symlink_to("/proc/self/status")
    assert follow_links(str(tmp_path / "root" / "etc")) is None
    assert follow_links("/proc/thread-self/status") is None
    assert follow_links("/dev/fd/0") is None
    assert follow_links(str(tmp_path / "status")) == "/proc/self/status"


def test_a_call_is_judged_by_one_moment_of_the_disk(disk: Path) -> None:
    links = Disk().resolvers()
    assert links.path is not None
    assert links.path(str(disk / "a" / "b" / "up")) == str(disk / "a")
    assert links.path(str(disk / "a" / "file")) == str(disk / "a" / "file")
    (disk / "a" / "b").rename(disk / "moved")
    (disk / "a" / "b").symlink_to("/etc")
    assert links.path(str(disk / "a" / "b")) == str(disk / "a" / "b")
    assert links.path(str(disk / "a" / "b" / "passwd")) == str(disk / "a" / "b" / "passwd")
    assert follow_links(str(disk / "a" / "b" / "passwd")) == "/etc/passwd"


def test_a_file_with_several_names_is_known_for_one(disk: Path) -> None:
    os.link(disk / "a" / "file", disk / "again")
    links = Disk().resolvers()
    assert links.other_names is not None
    assert links.other_names(str(disk / "again")) is True
    assert links.other_names(str(disk / "a" / "file")) is True
    assert links.other_names(str(disk / "a")) is False
    assert links.other_names(str(disk / "none")) is False
    os.unlink(disk / "again")
    assert links.other_names(str(disk / "a" / "file")) is True
    assert Disk().resolvers().other_names(str(disk / "a" / "file")) is False  # type: ignore[misc]


_NAMES = st.sampled_from(["a", "b", "c", "d"])
_WAYS = st.lists(st.one_of(_NAMES, st.just("..")), min_size=1, max_size=4).map("/".join)
_PLACES = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)


@settings(max_examples=examples(60), deadline=None)
@given(
    folders=st.lists(_PLACES, max_size=5),
    targets=st.lists(st.tuples(_PLACES, _WAYS), max_size=6),
    asked=st.lists(_PLACES, min_size=1, max_size=6),
)
def test_any_disk_is_followed_as_the_system_does(
    folders: list[str], targets: list[tuple[str, str]], asked: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "x" / "y"
        root.mkdir(parents=True)
        for folder in folders:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for place, target in targets:
            if (root / place).parent.is_dir() and not os.path.lexists(root / place):
                (root / place).symlink_to(target)
        remembering = Disk().resolvers()
        assert remembering.path is not None
        for each in asked:
            path = str(root / each)
            found = follow_links(path)
            assert found is None or found == os.path.realpath(path)
            assert remembering.path(path) == found
            if os.path.exists(path):
                assert found is not None
