"""A profile file that is read lazily gives the same profile as one read whole."""

from __future__ import annotations

from dataclasses import fields

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import Profile, Profiles
from policy.programs.profiles.lazy_file import read_profile_lazily
from policy.programs.profiles.merger import profile_of
from policy.programs.profiles.profile_file import ENVIRONMENT, ProfileFile, read_profile_file

_TEXTS = shipped_profile_texts()
_LARGE = sorted(name for name, text in _TEXTS.items() if len(text) > 2_000)
_LONG = "# " + "long " * 500 + "\n"


@pytest.mark.parametrize("name", [name for name in _LARGE if name != f"{ENVIRONMENT}.toml"])
def test_parts_say_what_the_whole_says(name: str) -> None:
    whole = read_profile_file(name, _TEXTS[name])
    parts = read_profile_lazily(name, _TEXTS[name])
    assert isinstance(whole, ProfileFile) and isinstance(parts, ProfileFile)
    assert whole.replaces == parts.replaces
    _assert_same(profile_of(name, [parts.section]), profile_of(name, [whole.section]))


def _assert_same(one: Profile, other: Profile) -> None:
    for field in fields(one):
        if field.name != "subcommands":
            assert getattr(one, field.name) == getattr(other, field.name), field.name
    assert set(one.subcommands) == set(other.subcommands)
    for name, sub in one.subcommands.items():
        _assert_same(sub, other.subcommands[name])


def test_a_header_inside_a_text_of_several_lines_is_text() -> None:
    text = f'{_LONG}flags = """\n-a\n"""\n[sub.x]\nflags = """\n[sub.y]\n"""\n'
    parts = read_profile_lazily("p.toml", text)
    assert parts == read_profile_file("p.toml", text)


def test_of_a_subcommand_that_cannot_be_read_nothing_good_is_known() -> None:
    text = f'{_LONG}flags = "-a"\n[sub.x]\noperands = "no-such-role"\n[sub.y]\nfree = true\n'
    found = Profiles.of({"p.toml": text}).profile("p")
    assert found is not None
    assert found.subcommands["x"].hides and found.subcommands["x"].operands == ("unknown...",)
    assert found.subcommands["y"].free and not found.subcommands["y"].hides


def test_other_names_of_subcommands_are_found_and_go_after_their_own() -> None:
    text = f'{_LONG}[sub.x]\nnames = ["z", "y"]\n[sub.y]\nfree = true\n'
    found = Profiles.of({"p.toml": text}).profile("p")
    assert found is not None
    assert found.subcommands["z"] is found.subcommands["x"]
    assert found.subcommands["y"].free
    assert set(found.subcommands) == {"x", "y", "z"}
    assert found.subcommands.get("none") is None
