"""Which changes of files and folders count as the loss of a name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from policy.processes.guarded_names import GuardedNames


def replaced(folder: Path) -> None:
    (folder / "new").write_text("b")
    os.replace(folder / "new", folder / "sub/file")


def removed(folder: Path) -> None:
    (folder / "sub/file").unlink()


def moved_away(folder: Path) -> None:
    (folder / "sub/file").rename(folder / "sub/file~")


def moved_by_another_name(folder: Path) -> None:
    (folder / "other").rename(folder / "another")


def changed_in_place(folder: Path) -> None:
    (folder / "sub/file").write_text("b")
    (folder / "sub/file").chmod(0o600)


def moved_with_its_folder(folder: Path) -> None:
    (folder / "sub").rename(folder / "moved")
    (folder / "sub").mkdir()
    (folder / "sub/file").write_text("b")


LOST = (replaced, removed, moved_away)
KEPT = (moved_by_another_name, changed_in_place, moved_with_its_folder)


class Clock:
    """A clock that a test moves on."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def guarded(file: Path, clock: Clock) -> Iterator[GuardedNames]:
    names = GuardedNames([str(file)], ticks=clock)
    try:
        yield names
    finally:
        names.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file that has two names."""
    file = tmp_path / "sub" / "file"
    file.parent.mkdir()
    file.write_text("a")
    os.link(file, tmp_path / "other")
    return file


@pytest.fixture
def no_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the system report no changes."""
    monkeypatch.setattr("policy.processes.guarded_names._call", lambda *called: -1)


@pytest.mark.parametrize("change", LOST)
def test_a_name_that_leads_to_something_else_is_lost_at_once(
    change: Callable[[Path], None], file: Path, tmp_path: Path
) -> None:
    with guarded(file, Clock()) as names:
        assert names.lost() is None
        change(tmp_path)
        assert names.lost() == str(file)


@pytest.mark.parametrize("change", LOST)
@pytest.mark.usefixtures("no_reports")
def test_a_lost_name_is_found_where_the_system_reports_nothing(
    change: Callable[[Path], None], file: Path, tmp_path: Path
) -> None:
    clock = Clock()
    with guarded(file, clock) as names:
        assert names.lost() is None
        change(tmp_path)
        clock.now += 0.1
        assert names.lost() == str(file)


def made_anew(path: Path) -> None:
    """Remove something, and make it again: many file systems give it the number that it had."""
    if path.is_dir():
        path.rmdir()
        path.mkdir()
    else:
        path.unlink()
        path.touch()


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
@pytest.mark.parametrize("reports", [True, False])
def test_what_is_made_anew_is_something_else(
    make: Callable[[Path], None],
    reports: bool,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    if not reports:
        request.getfixturevalue("no_reports")
    clock, path = Clock(), tmp_path / "path"
    make(path)
    with guarded(path, clock) as names:
        assert names.lost() is None
        made_anew(path)
        clock.now += 0.0 if reports else 0.1
        assert names.lost() == str(path)


def test_a_folder_is_lost_at_once_though_a_program_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with guarded(tmp_path / "folder", Clock()) as names:
        assert names.lost() is None
        inside = os.open(tmp_path / "folder", os.O_RDONLY)
        try:
            made_anew(tmp_path / "folder")
            assert names.lost() == str(tmp_path / "folder")
        finally:
            os.close(inside)


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_what_is_reported_as_removed_is_lost_whatever_number_the_next_one_has(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.processes.guarded_names._identity", lambda path: (1, 1))
    monkeypatch.setattr("policy.processes.guarded_names._held", lambda *asked: ())
    make(tmp_path / "path")
    with guarded(tmp_path / "path", Clock()) as names:
        assert names.lost() is None
        made_anew(tmp_path / "path")
        assert names.lost() == str(tmp_path / "path")


def test_files_are_held_while_the_process_may_open_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        (tmp_path / str(number)).touch()
    before = len(os.listdir("/proc/self/fd"))
    most = max(map(int, os.listdir("/proc/self/fd"))) + 5
    monkeypatch.setattr("policy.processes.guarded_names._SPARE", 0)
    monkeypatch.setattr("os.sysconf", lambda name: most)
    names = GuardedNames([str(each) for each in tmp_path.iterdir()])
    try:
        assert before + 1 < len(os.listdir("/proc/self/fd")) <= most + 1
        for each in sorted(tmp_path.iterdir()):
            each.unlink()
        assert names.lost() is not None
    finally:
        names.close()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("change", KEPT)
def test_other_changes_lose_no_name(
    change: Callable[[Path], None], file: Path, tmp_path: Path
) -> None:
    clock = Clock()
    with guarded(file, clock) as names:
        change(tmp_path)
        assert names.lost() is None
        clock.now += 10
        assert names.wait() == 0
        assert names.lost() is None


def test_a_name_that_is_gone_when_the_program_starts_is_lost(tmp_path: Path) -> None:
    with guarded(tmp_path / "gone" / "file", Clock()) as names:
        assert names.lost() == str(tmp_path / "gone" / "file")


def test_names_that_cannot_be_watched_are_looked_at_often(file: Path, tmp_path: Path) -> None:
    clock = Clock()
    with guarded(file, clock) as names, guarded(tmp_path / "sub" / "gone", clock) as some:
        names.lost()
        some.lost()
        assert some.wait() < 0.1 < names.wait()
