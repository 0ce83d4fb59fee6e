"""Every shipped profile file can be read, and its examples give what they expect."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import ProfileFault, Profiles, check_examples
from policy.programs.profiles.profile_file import ENVIRONMENT, ProfileFile, read_profile_file

_TEXTS = shipped_profile_texts()
_PROFILES = Profiles.of(_TEXTS)


def _told(faults: tuple[ProfileFault, ...]) -> str:
    return "\n".join(
        f"{fault.file}:{fault.line}: {fault.message} ({fault.help})" for fault in faults
    )


@pytest.mark.parametrize("name", _TEXTS)
def test_a_profile_file_can_be_read_and_its_examples_hold(name: str) -> None:
    read = read_profile_file(name, _TEXTS[name])

    assert isinstance(read, ProfileFile), _told(read)
    assert read.examples or read.program == ENVIRONMENT, "a profile has examples"
    assert not (faults := check_examples(read, _PROFILES)), _told(faults)


def test_no_two_profiles_have_one_name() -> None:
    seen: dict[str, str] = {}
    for file in _PROFILES.files():
        for name in (file.program, *file.section.names):
            assert seen.setdefault(name, file.program) == file.program, name
