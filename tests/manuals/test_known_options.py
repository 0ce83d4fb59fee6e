"""Profiles know all options of manuals that they knew; wildcards cover no unknown option.

What the manuals say is kept in `options.jsonl`, so that no program has to be installed here:
`python -m tests.manuals` reads them, see there for adding a program.
"""

from __future__ import annotations

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import Profiles, analyse_script, covers, read_command_pattern
from policy.values import Unreadable
from tests.manuals.counted import Counted, knows, profile_of, read_counted
from tests.manuals.manual import options_in

_PROFILES = Profiles.of(shipped_profile_texts())
_COUNTED = read_counted()


def _programs() -> list[object]:
    return [pytest.param(one, id=one.program) for one in _COUNTED]


@pytest.mark.parametrize("counted", _programs())
def test_a_profile_knows_the_options_that_it_knew(counted: Counted) -> None:
    profile = profile_of(counted.program, _PROFILES)

    assert profile is not None
    assert not [option for option in counted.known if not knows(profile, option)]


@pytest.mark.parametrize("counted", _programs())
def test_no_wildcard_covers_an_option_that_a_profile_does_not_know(counted: Counted) -> None:
    profile = profile_of(counted.program, _PROFILES)
    assert profile is not None

    unknown = [option for option in counted.unknown if not knows(profile, option)]

    assert not [option for option in unknown if _covered(counted.program, option)]


def test_each_program_is_counted_once() -> None:
    assert len({one.program for one in _COUNTED}) == len(_COUNTED)
    assert sum(len(one.known) for one in _COUNTED) > sum(len(one.unknown) for one in _COUNTED)


def test_options_are_read_off_the_beginnings_of_lines() -> None:
    text = """Usage: x [-q] FILE
  -a, --all   use -b too
  --[no-]color[=WHEN]
  -o FILE, --out=FILE
"""

    assert list(options_in(text)) == ["-a", "--all", "--color", "--no-color", "-o", "--out"]


def _covered(program: str, option: str) -> bool:
    pattern = read_command_pattern(f"{program} *", _PROFILES)
    assert not isinstance(pattern, Unreadable)
    for script in (f"{program} {option}", f"{program} {option} x", f"{program} {option}=x x"):
        read = analyse_script(script, _PROFILES)
        if isinstance(read, Unreadable) or read.gaps:
            continue
        if all(covers(one, [pattern], redirections_covered=False) for one in read.commands):
            return True
    return False
