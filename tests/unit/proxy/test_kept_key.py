"""The key for parked calls: kept for its owner alone, or not used."""

from __future__ import annotations

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from policy.proxy import kept_key


def test_it_is_made_for_its_owner_alone_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "state" / "key"
    key = kept_key(file)
    assert len(key) == 32
    assert kept_key(file) == key == file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == ["key"]


def test_those_who_make_it_at_once_use_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(kept_key, [tmp_path / "key"] * 64))
    assert len(keys) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


def _linked(file: Path) -> None:
    file.with_name("other").write_bytes(b"x" * 32)
    file.with_name("other").chmod(0o600)
    file.symlink_to("other")


def _readable(file: Path) -> None:
    file.write_bytes(b"x" * 32)
    file.chmod(0o640)


def _short(file: Path) -> None:
    file.touch(0o600)


UNFIT: dict[str, Callable[[Path], object]] = {
    "a link": _linked,
    "a folder": Path.mkdir,
    "readable by others": _readable,
    "empty": _short,
}


@pytest.mark.parametrize("why", UNFIT)
def test_one_that_is_not_fit_is_not_used(
    tmp_path: Path, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "key"
    UNFIT[why](file)
    keys = {kept_key(file), kept_key(file), b"x" * 32}
    assert len(keys) == 3
    assert "is not used" in caplog.text
