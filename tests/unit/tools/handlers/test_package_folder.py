"""Installed packages that are kept: what is there is whole, and what is old goes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from policy.tools.handlers.package_folder import (
    PackageFolder,
    Unusable,
    distributions_in,
    require_plain,
    size_of,
)


@pytest.fixture
def folder(tmp_path: Path) -> PackageFolder:
    return PackageFolder(tmp_path / "kept", keep=10_000, most=2)


def put(
    folder: PackageFolder, key: str, *, used: float = 0, made: float = 0, by: str = "ada"
) -> str:
    """Make an installation, last used and made some seconds ago; return its place."""
    place = folder.place_of(key)
    with folder.new(by) as staging:
        Path(staging, "made").mkdir()
        Path(staging, "made", "module.py").write_text(key)
        folder.put(f"{staging}/made", place, by)
    now = time.time()
    os.utime(place, (now - used, now - made))
    return place


def test_an_installation_appears_as_a_whole(folder: PackageFolder, tmp_path: Path) -> None:
    place = folder.place_of("a")
    assert not folder.use(place)
    with folder.new() as staging:
        Path(staging, "half").write_text("x")
    assert os.listdir(tmp_path / "kept") == []
    assert put(folder, "a") == place
    assert folder.use(place)
    assert os.listdir(tmp_path / "kept") == [os.path.basename(place)]


def test_the_first_of_two_stays(folder: PackageFolder) -> None:
    place = put(folder, "a")
    before = os.stat(place).st_ino
    assert put(folder, "a") == place
    assert os.stat(place).st_ino == before


def test_one_that_is_too_old_is_not_used_and_makes_room(folder: PackageFolder) -> None:
    place = put(folder, "a", made=10_001)
    before = os.stat(place).st_ino
    assert not folder.use(place)
    put(folder, "a")
    assert folder.use(place) and os.stat(place).st_ino != before


def test_using_it_makes_it_no_younger(folder: PackageFolder) -> None:
    place = put(folder, "a", made=9_000, used=9_000)
    made = os.stat(place).st_mtime
    assert folder.use(place)
    assert os.stat(place).st_mtime == made
    assert time.time() - os.stat(place).st_atime < 60


def test_what_no_call_uses_any_more_is_removed(folder: PackageFolder, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    unused = put(folder, "a", made=20_000, used=20_000)
    used = put(folder, "b", made=20_000, used=100)
    (kept / ".new-left").mkdir()
    (kept / ".new-begun").mkdir()
    os.utime(kept / ".new-left", (0, 0))
    folder.clean_if_due()
    assert {*os.listdir(kept)} == {os.path.basename(used), ".new-begun"}
    assert not os.path.exists(unused)


def test_the_least_used_makes_room(folder: PackageFolder) -> None:
    first, second = put(folder, "a", used=8_000, made=9_000), put(folder, "b", used=9_000)
    os.utime(second, (time.time() - 9_000, time.time() - 9_000))
    third = put(folder, "c")
    assert [os.path.exists(each) for each in (first, second, third)] == [True, False, True]
    os.utime(first, (time.time(), time.time() - 9_000))
    with (
        folder.held(first, "ada"),
        folder.held(third, "bob"),
        pytest.raises(Unusable, match="there are 2 installations in use"),
    ):
        put(folder, "d")
    put(folder, "d")
    assert [os.path.exists(each) for each in (first, third)].count(True) == 1


def test_what_a_call_uses_stays_and_what_is_gone_is_told(folder: PackageFolder) -> None:
    first, second = put(folder, "a", used=100), put(folder, "b", used=10)
    with folder.held(first):
        put(folder, "c")
        assert os.path.exists(first) and not os.path.exists(second)
    with pytest.raises(Unusable, match="removed meanwhile"), folder.held(second):
        pass


def test_one_caller_uses_half_of_them_at_a_time(folder: PackageFolder) -> None:
    first, second = put(folder, "a"), put(folder, "b")
    with folder.held(first, "ada"):
        with folder.held(first, "ada"), folder.held(second, "bob"):
            pass
        with pytest.raises(Unusable, match="one caller"), folder.held(second, "ada"):
            pass
    with folder.held(second, "ada"):
        pass


def test_whoever_makes_many_makes_room_among_its_own(tmp_path: Path) -> None:
    folder = PackageFolder(tmp_path / "kept", keep=10_000, most=4)
    of_bob = put(folder, "bob", used=1_000, by="bob")
    for number in range(8):
        put(folder, f"mallory {number}", by="mallory")
    assert os.path.exists(of_bob)
    put(folder, "another of bob", by="bob")
    assert len(os.listdir(tmp_path / "kept")) == 4


def test_a_folder_that_others_may_write_is_not_used(folder: PackageFolder, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir(mode=0o777)
    (tmp_path / "kept").chmod(0o777)
    with pytest.raises(Unusable, match="others may write"), folder.new():
        pass
    (tmp_path / "kept").rmdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "kept").symlink_to(tmp_path / "other")
    with pytest.raises(Unusable), folder.new():
        pass


def test_links_are_nothing_that_a_wheel_installs(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_text("x" * 5_000)
    require_plain(str(tmp_path))
    assert 5_000 <= size_of(str(tmp_path)) < 50_000
    (tmp_path / "sub" / "link").symlink_to("/etc/passwd")
    with pytest.raises(Unusable, match="sub/link is neither a file nor a folder"):
        require_plain(str(tmp_path))


def test_names_and_versions_come_from_the_folder(tmp_path: Path) -> None:
    for name in ("b-2.0.dist-info", "a_x-1.0.dist-info", "a"):
        (tmp_path / name).mkdir()
    assert distributions_in(str(tmp_path)) == [("a_x", "1.0"), ("b", "2.0")]
