"""Following links as the kernel would."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policy.reload import follow_links


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
