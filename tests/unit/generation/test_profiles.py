"""Profiles of programs in a policy folder: read with the rules, and tested at every load."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.diagnostics import Diagnostic
from policy.generation import load, read_folder, shipped_profiles
from policy.generation.profiles import profiles_of
from policy.model import PolicyInvalid
from policy.programs import Profiles, analyse_script
from policy.values import Unreadable

RULES = "policy for every agent\n\ndefault deny\n"
REPORT = """\
operands = "read..."
[options]
"-o|--output" = "write"
[[examples]]
run = "report -o out.html in.csv"
reads = ["in.csv"]
writes = ["out.html"]
"""


def rules(folder: Path, **programs: str) -> Path:
    (folder / "global.policy").write_text(RULES)
    (folder / "programs").mkdir()
    for name, text in programs.items():
        (folder / "programs" / f"{name}.toml").write_text(text)
    return folder


def read(folder: Path) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    return profiles_of(read_folder(folder))


def told(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[str, str]]:
    return [(one.code, f"{one.place[0]}:{one.place[1]}") for one in diagnostics]


def writes(script: str, profiles: Profiles) -> list[str]:
    understood = analyse_script(script, profiles)
    assert not isinstance(understood, Unreadable)
    effects = [effect for command in understood.walk() for effect in command.effects]
    return [one.word.text for one in effects if one.verb == "writes" and one.word]


def test_a_folder_without_profiles_has_the_shipped_ones(tmp_path: Path) -> None:
    assert read(rules(tmp_path)) == (shipped_profiles(), ())


def test_a_profile_of_a_folder_says_what_its_program_does(tmp_path: Path) -> None:
    profiles, wrong = read(rules(tmp_path, report=REPORT))

    assert wrong == ()
    assert writes("report -oa.html b.csv; sort -o c d", profiles) == ["a.html", "c"]


def test_a_profile_adds_to_a_shipped_one(tmp_path: Path) -> None:
    added = '[options]\n"--log" = "write"\n'
    profiles, wrong = read(rules(tmp_path, sort=added))

    assert wrong == ()
    assert writes("sort --log l -o c d", profiles) == ["l", "c"]


def test_a_profile_can_replace_a_shipped_one(tmp_path: Path) -> None:
    profiles, wrong = read(rules(tmp_path, sort='replace = true\noperands = "write..."\n'))

    assert wrong == ()
    assert writes("sort a", profiles) == ["a"]


def test_the_same_files_keep_what_was_found_out(tmp_path: Path) -> None:
    folder = rules(tmp_path, report=REPORT)

    assert read(folder)[0] is read(folder)[0]


def test_a_mistake_is_told_at_its_line(tmp_path: Path) -> None:
    _, wrong = read(rules(tmp_path, report='operands = "read..."\n[options]\n"-o" = "wirte"\n'))

    assert told(wrong) == [("bad-profile", "programs/report.toml:3")]


def test_an_example_that_does_not_hold_is_told_at_its_line(tmp_path: Path) -> None:
    _, wrong = read(rules(tmp_path, report=REPORT.replace('"write"', '"text"')))

    assert told(wrong) == [("profile-example-failed", "programs/report.toml:4")]


def test_a_name_of_another_program_cannot_be_taken(tmp_path: Path) -> None:
    _, wrong = read(rules(tmp_path, report='names = ["git"]\n'))

    assert [one.code for one in wrong] == ["bad-profile"]


def test_a_wrong_profile_keeps_the_rules_from_loading(tmp_path: Path) -> None:
    folder = rules(tmp_path, report="operands = 3\n")
    with pytest.raises(PolicyInvalid) as caught:
        load(folder)

    (wrong,) = caught.value.diagnostics
    assert isinstance(wrong, Diagnostic)
    assert (wrong.code, wrong.place[:2]) == ("bad-profile", ("programs/report.toml", 1))


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ('[implies]\n"-a" = "--wype"', 5),
        ('[implies]\n"-x" = "--wipe"', 5),
        ('[implies]\n"-u*x" = "--wipe"', 4),
        ('[implies]\n"-u*0" = "--wipe"', 4),
        ('[implies]\n"--wipe" = "!-a"', 4),
        ('[overrides]\n"-a" = "--wype"', 5),
        ('alone = "--nosuch"', 4),
        ('alone = "--wipe"\nalone_unless = ["-x"]', 5),
        ('[sub.all]\nflags = "-v"\n[sub.all.implies]\n"-v" = "-x"', 7),
    ],
)
def test_an_implication_of_no_option_is_wrong(tmp_path: Path, said: str, line: int) -> None:
    mine = f'flags = "--wipe -a -b -u"\noperands = "argument..."\nunseen = true\n{said}\n'
    _, wrong = read(rules(tmp_path, mine=mine))
    assert told(wrong) == [("bad-profile", f"programs/mine.toml:{line}")]


def test_an_implication_may_be_of_options_that_are_shipped(tmp_path: Path) -> None:
    said = '[sub.branch.implies]\n"-d -f" = "-D"\n"-v*2" = "-a"\n"-r !-a" = "--list"\n'
    assert read(rules(tmp_path, git=said))[1] == ()
