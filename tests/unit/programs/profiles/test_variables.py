"""Variables of the environment that are plain settings of the program that reads them."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import Profiles, covers, read_command_pattern
from policy.programs.script_analysis import analyse_script
from policy.values import Unreadable

_PROFILES = Profiles.of(shipped_profile_texts())


def _covered(script: str, pattern_text: str = "npm test *") -> bool | None:
    read = analyse_script(script, _PROFILES)
    pattern = read_command_pattern(pattern_text, _PROFILES)
    assert not isinstance(read, Unreadable)
    assert not isinstance(pattern, Unreadable)
    return covers(read.commands[-1], [pattern], redirections_covered=True)


@pytest.mark.parametrize(
    "script",
    [
        "APP_TIER=test npm test",
        "FEATURE_X=1 LEVEL=2.5 npm test",
        "env TIER=gold-2 npm test",
        "export APP_TIER=test && npm test",
        "APP_TIER=test timeout 5 npm test",
    ],
)
def test_a_plain_setting_needs_no_pattern(script: str) -> None:
    assert _covered(script) is True


@pytest.mark.parametrize(
    "script",
    [
        "APP_CONFIG=test npm test",
        "APP_TIER=./test npm test",
        "APP_TIER=evil.example npm test",
        "APP_TIER=$X npm test",
        "APP_TIER+=x npm test",
        "APP_TIER=-x npm test",
        "RUN_HOOK=evil npm test",
        "app_env=test npm test",
        "NODE_OPTIONS=x npm test",
        "APP_TIER=~ npm test",
        "APP_TIER= npm test",
    ],
)
def test_any_other_variable_does(script: str) -> None:
    assert _covered(script) is not True


@pytest.mark.parametrize(
    ("script", "pattern"),
    [
        ("APP_TIER=test tar c a.py", "tar *"),
        ("export APP_TIER=test; cat a.py", "cat *"),
        ("APP_TIER=test timeout 5 cat a.py", "cat *"),
        ("APP_TIER=test bash -c 'cat a.py'", "cat *"),
        ("APP_TIER=1 git log", "git log *"),
    ],
)
def test_a_program_that_is_described_exactly_has_no_plain_settings(
    script: str, pattern: str
) -> None:
    assert _covered(script, pattern) is not True


@pytest.mark.parametrize(
    "value",
    [
        "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", ":UTC", "'<+03>-3'", "''",
        "EST5EDT,M3.2.0/2,M11.1.0/2", "/usr/share/zoneinfo/Europe/Berlin",
    ],
)  # fmt: skip
def test_a_time_zone_names_no_file_of_its_own(value: str) -> None:
    assert _covered(f"TZ={value} date", "date *") is True
    assert _covered(f"TZ={value}; export TZ; unset TZ; date", "date *") is True


@pytest.mark.parametrize(
    "setting",
    [
        "TZ=/srv/x", "TZ=:/srv/x", "TZ=../x", "TZ=:../x", "TZ=Europe/../../x", "TZ=./x", "TZ=$x",
        "TZ=/usr/share/zoneinfo/../x", "LANGUAGE=../x", "LANGUAGE=en:../../x", "LANGUAGE=/x",
    ],
)  # fmt: skip
def test_a_name_that_leads_out_of_its_folder_reads_an_unknown_file(setting: str) -> None:
    read = analyse_script(f"{setting} date", _PROFILES)
    assert not isinstance(read, Unreadable)
    effects = read.commands[-1].effects
    assert [(one.verb, one.word) for one in effects] == [("reads", None)]
    assert _covered(f"{setting} date", "date *") is not True
