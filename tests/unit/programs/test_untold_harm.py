"""Harmful options that no role describes, and names of which only a prefix or suffix is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import Invocation, Profile, Profiles, ScriptAnalysis, analyse_script
from policy.programs.profiles.profile import Option
from policy.shell import Word

PROFILES = Profiles.of(
    {
        "build.toml": (
            'operands = "read..."\nguarded = "-x --tune? -k"\nat_options = true\n'
            '[options]\n"-B" = "text guarded"\n"-p" = "text spelled"\n"-q" = "flag spelled"\n'
            '"-S" = "suffix"\n"-o" = "write"\n"-c" = "piped-write"\n"--log?" = "write"\n'
            '[[variant]]\ngiven = "-k"\noperands = "read-write..."\n'
        ),
        "pack.toml": (
            'operands = "read-tree..."\nflags = "-c"\n[options]\n"-C" = "members"\n"-f" = "write"\n'
            '[[variant]]\ngiven = "-c"\noperands = "text..."\n[variant.options]\n'
            '"-C" = "members-write"\n'
        ),
        "cut.toml": 'operands = "read prefix"\n',
        "environment.toml": 'harmless = "LANG"\n',
    }
)
SHIPPED = Profiles.of(shipped_profile_texts())


def command(script: str, profiles: Profiles = PROFILES) -> Invocation:
    understood = analyse_script(script, profiles)
    assert isinstance(understood, ScriptAnalysis), understood
    return understood.commands[0]


def told(one: Invocation) -> list[str]:
    """Return the effects of a command as text, with the folders before a word."""
    return [
        f"{effect.verb} {_path(effect.folder, effect.word)}{'/**' if effect.tree else ''}"
        for effect in one.effects
    ]


def _path(folder: tuple[Word, ...], word: Word | None) -> str:
    return "?" if word is None else "/".join((*(one.text for one in folder), word.text))


UNKNOWN = ["reads ?", "writes ?", "connects ?"]


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("build -x", UNKNOWN),
        ("build -B dir", UNKNOWN),
        ("build --tune", UNKNOWN),
        ("build --tune=1", UNKNOWN),
        ("build -p 1 -q", []),
        ("build -k a", ["reads a", "writes a"]),
        ("build --log", ["writes ?"]),
        ("build @words", UNKNOWN),
        ("build -p @words", UNKNOWN),
        ("build -- @words", UNKNOWN),
        ('build "@$x"', [*UNKNOWN, "reads @"]),
    ],
)
def test_harm_that_no_role_tells_may_be_any(script: str, wanted: list[str]) -> None:
    found = told(command(script))

    assert found[: len(wanted)] == wanted
    assert not wanted or wanted[0] in found
    assert wanted or not found


@pytest.mark.parametrize("script", ["build -x", "build -B dir", "build -p 1", "build -q"])
def test_only_a_pattern_that_spells_it_covers_such_an_option(script: str) -> None:
    one = command(script)

    assert all(option.guarded for option in one.options)
    assert not one.gaps


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("build -o a -S .bak", ["writes a", "writes a.bak"]),
        ("build -S .bak -o d/a", ["writes d/a", "writes d/a.bak"]),
        ("build -o a -S /../b", ["writes a", "writes ?"]),
        ('build -o a -S "$x"', ["writes a", "writes ?"]),
        ("build -o d/a -S 'x*'", ["writes d/a", "writes d/x*"]),
        ("build -o 'd*/a' -S 'x*'", ["writes d*/a", "writes d\\*/x*"]),
        ("build -o d*/a -S .b", ["writes d*/a", "reads d*/a", "writes d*/a.b"]),
        ("cut a out/x", ["reads a", "writes out/x*"]),
        ("cut a '*'", ["reads a", "writes \\**"]),
    ],
)
def test_names_that_are_begun_or_ended(script: str, wanted: list[str]) -> None:
    assert told(command(script)) == wanted


def test_what_is_written_to_may_be_a_command() -> None:
    assert told(command("build -c out.txt")) == ["writes out.txt"]
    for mark in "|!":
        piped = command(f"build -c '{mark}rm -rf x'")
        assert [one.program for one in piped.inner] == [("rm",)]
    assert command("build -c $x").gaps


def test_folders_of_members_add_up_and_hold_for_operands_alone() -> None:
    assert told(command("pack -C a -C b -f out x")) == ["writes out", "reads a/b/x/**"]
    assert told(command("pack x -C a y")) == ["reads x/**", "reads a/y/**"]
    assert told(command("pack -c -C a -C b x")) == ["writes a/**", "writes a/b/**"]
    assert "writes ?" in told(command("pack -c x -C a"))


def _sections(
    profile: Profile, words: tuple[str, ...]
) -> Iterator[tuple[Profile, tuple[str, ...]]]:
    yield profile, words
    for name, sub in profile.subcommands.items():
        yield from _sections(sub, (*words, name))


def _untold(profile: Profile) -> Iterator[Option]:
    named = {name for one in profile.variants for name in (*one.given, *one.also)}
    for option in {id(one): one for one in profile.options.values()}.values():
        if option.guarded and option.role in ("text", "guarded") and option.name not in named:
            yield option


def test_no_shipped_option_is_guarded_without_an_effect() -> None:
    seen = 0
    for file in SHIPPED.files():
        top = SHIPPED.profile(file.program)
        for profile, words in _sections(top, (file.program,)) if top else ():
            for option in _untold(profile):
                if option.role == "text":
                    continue  # `spelled`: somebody said that it does none
                spelled = option.spellings[0]
                value = " v" if option.takes == "value" else ""
                found = told(command(f"{' '.join(words)} {spelled}{value}", SHIPPED))
                assert set(UNKNOWN) <= set(found), (words, spelled, found)
                seen += 1
    assert seen > 100
