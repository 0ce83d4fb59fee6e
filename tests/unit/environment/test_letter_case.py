"""Detecting whether folders ignore letter case: on this disk, and on one that would."""

from __future__ import annotations

import os
from pathlib import Path

from policy.environment import Disk
from policy.environment.letter_case import LetterCase
from policy.values import PathContext, path_overlaps, read_path, read_path_pattern


def folding(at: Path) -> LetterCase:
    """Return probes of a disk that folds case in the folder `at` and below, and nowhere else."""

    def look(path: str) -> os.stat_result:
        folder, name = os.path.split(path)
        if not f"{folder}/".startswith(f"{at}/"):
            return os.lstat(path)
        for each in os.listdir(folder):
            if each.casefold() == name.casefold():
                return os.lstat(os.path.join(folder, each))
        raise FileNotFoundError(path)

    return LetterCase(look)


def test_this_disk_is_asked_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "Name").write_text("")
    swaps = (tmp_path / "nAME").exists()
    case = LetterCase()
    assert case.folds(str(tmp_path / "Name")) is swaps
    assert case.folds(str(tmp_path / "other")) is swaps
    assert case.folds(str(tmp_path / "new" / "er" / "x")) is swaps
    assert [entry.name for entry in tmp_path.iterdir()] == ["Name"]


def test_one_folder_on_the_way_is_enough(tmp_path: Path) -> None:
    (tmp_path / "Plain" / "a").mkdir(parents=True)
    (tmp_path / "Volume" / "deep" / "er").mkdir(parents=True)
    case = folding(tmp_path / "Volume")
    assert case.folds(str(tmp_path / "Plain" / "a" / "x")) is False
    assert case.folds(str(tmp_path / "Volume")) is False
    assert case.folds(str(tmp_path / "Volume" / "deep" / "new")) is True
    assert case.folds(str(tmp_path / "Volume" / "none" / "new")) is True


def test_names_without_letters_tell_nothing_and_others_are_asked(tmp_path: Path) -> None:
    volume = tmp_path / "v"
    volume.mkdir()
    (volume / "1").write_text("")
    (volume / "é").write_text("")
    (volume / "readme").write_text("")
    assert folding(volume).folds(str(volume / "1")) is True
    assert LetterCase().folds(str(volume / "1")) is (volume / "README").exists()


def test_two_names_of_one_file_are_no_proof(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    os.link(tmp_path / "a", tmp_path / "A")
    (tmp_path / "b").write_text("")
    assert LetterCase().folds(str(tmp_path / "a")) is (tmp_path / "B").exists()


def test_two_files_that_differ_in_case_alone_prove_that_it_counts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "A").mkdir(exist_ok=True)
    assert LetterCase().folds(str(tmp_path / "a")) is (len(list(tmp_path.iterdir())) == 1)


def test_an_empty_folder_is_like_the_one_above(tmp_path: Path) -> None:
    (tmp_path / "Volume" / "empty").mkdir(parents=True)
    (tmp_path / "bare").mkdir()
    case = folding(tmp_path / "Volume")
    assert case.folds(str(tmp_path / "Volume" / "empty" / "x")) is True
    assert case.folds(str(tmp_path / "bare" / "x")) is False


def test_what_cannot_be_told_may_fold(tmp_path: Path) -> None:
    def nobody_answers(path: str) -> os.stat_result:
        raise PermissionError(path)

    assert LetterCase(nobody_answers).folds("/1/x") is True


def test_answers_are_kept_for_some_seconds(tmp_path: Path) -> None:
    now = [0.0]
    asked: list[str] = []

    def look(path: str) -> os.stat_result:
        asked.append(path)
        return os.lstat(path)

    case = LetterCase(look, clock=lambda: now[0])
    path = str(tmp_path / "Name")
    (tmp_path / "Name").write_text("")
    case.folds(path)
    count = len(asked)
    assert count
    case.folds(path)
    assert len(asked) == count
    now[0] = 60.0
    case.folds(path)
    assert len(asked) == 2 * count


def test_where_case_is_folded_other_spellings_are_undecidable(tmp_path: Path) -> None:
    (tmp_path / "ws" / ".git").mkdir(parents=True)
    context = PathContext(
        cwd=str(tmp_path / "ws"),
        workspace=str(tmp_path / "ws"),
        resolve=Disk().resolvers().path,
        folds=folding(tmp_path / "ws").folds,
    )
    item = read_path_pattern("**/.git/**")
    answers = []
    for text in (".git/config", ".Git/config", ".gitx/config"):
        path = read_path(text, context)
        answers.append(path_overlaps(path, (item,), (), context=context))  # type: ignore[arg-type]
    assert answers == [True, None, False]
