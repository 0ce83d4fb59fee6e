"""Paths that are held open from planning a sandbox until it has started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policy.sandbox import CannotConfine
from policy.sandbox.pinned_paths import pinned


def test_a_path_stays_the_folder_that_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    before = folder.stat().st_ino
    with pinned([str(folder)]) as found:
        folder.rename(tmp_path / "aside")
        folder.symlink_to("/etc")
        assert os.fstat(found[str(folder)]).st_ino == before


@pytest.mark.parametrize("replaced", ["outer", "outer/inner"])
def test_a_link_on_the_way_is_not_followed(tmp_path: Path, replaced: str) -> None:
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / replaced).rename(tmp_path / "aside")
    (tmp_path / replaced).symlink_to(tmp_path / "aside")
    with (
        pytest.raises(CannotConfine, match="symbolic link"),
        pinned([str(tmp_path / "outer" / "inner")]),
    ):
        pass


def test_a_path_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(CannotConfine, match="cannot be opened: No such file"),
        pinned([str(tmp_path / "gone")]),
    ):
        pass


def test_more_paths_than_can_be_held_are_an_error() -> None:
    with (
        pytest.raises(CannotConfine, match="500 folders and files are too many"),
        pinned([f"/{number}" for number in range(500)]),
    ):
        pass


def test_nothing_stays_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pinned([str(tmp_path)]):
        pass
    with pytest.raises(CannotConfine), pinned([str(tmp_path), str(tmp_path / "gone")]):
        pass
    assert len(os.listdir("/proc/self/fd")) == before
