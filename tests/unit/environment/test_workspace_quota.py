"""Whether a workspace has room, by what is in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policy.environment import WorkspaceFull, WorkspaceQuota


def _quota(**quota: int) -> WorkspaceQuota:
    return WorkspaceQuota(**{"bytes": 1_000_000, "files": 5, **quota}, clock=lambda: 0.0)


def test_bytes_and_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(os.urandom(100_000))
    _quota().require_room(str(tmp_path))
    with pytest.raises(WorkspaceFull, match="more than 2 files and folders"):
        _quota(files=2).require_room(str(tmp_path))
    with pytest.raises(WorkspaceFull, match="more than 90,000 bytes"):
        _quota(bytes=90_000).require_room(str(tmp_path))


def test_a_file_takes_room_once_and_a_link_none(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(os.urandom(2_000_000))
    work = tmp_path / "work"
    work.mkdir()
    (work / "link").symlink_to(outside)
    (work / "folder").symlink_to(tmp_path)
    (work / "one").write_bytes(os.urandom(600_000))
    (work / "other").hardlink_to(work / "one")
    _quota().require_room(str(work))


def test_a_file_with_holes_takes_what_it_has_on_the_disk(tmp_path: Path) -> None:
    os.truncate(os.open(tmp_path / "sparse", os.O_CREAT | os.O_WRONLY), 10**12)
    _quota().require_room(str(tmp_path))


def test_a_folder_that_cannot_be_counted_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(WorkspaceFull, match="cannot be counted: Permission denied"):
        _quota().require_room(str(tmp_path))


def test_a_count_is_used_again_for_ten_times_as_long_as_it_took(tmp_path: Path) -> None:
    times = iter((0.0, 2.0, 21.0, 23.0, 23.0))
    quota = WorkspaceQuota(bytes=1_000_000, files=1, clock=lambda: next(times))
    quota.require_room(str(tmp_path))
    for name in "ab":
        (tmp_path / name).touch()
    quota.require_room(str(tmp_path))
    with pytest.raises(WorkspaceFull):
        quota.require_room(str(tmp_path))
