"""Every profile file that ships can be read, and says of its examples what they expect."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy.commands
from policy.commands import PROFILE_SUFFIX
from policy.commands.profile_file import ENVIRONMENT, read_profile_file

_FILES = sorted((Path(policy.commands.__file__).parent / "profiles").glob("*" + PROFILE_SUFFIX))


@pytest.mark.parametrize("path", _FILES, ids=[path.stem for path in _FILES])
def test_a_profile_file_can_be_read(path: Path) -> None:
    read = read_profile_file(path.name, path.read_text())

    assert not isinstance(read, tuple), "\n".join(
        f"{fault.file}:{fault.line}: {fault.message} ({fault.help})" for fault in read
    )


@pytest.mark.parametrize("path", _FILES, ids=[path.stem for path in _FILES])
def test_a_profile_has_examples(path: Path) -> None:
    read = read_profile_file(path.name, path.read_text())

    assert isinstance(read, tuple) or read.examples or read.program == ENVIRONMENT
