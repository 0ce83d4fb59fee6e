"""Words with little information: shell variables, forwarded words, URLs of unknown programs."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import CommandEffect, Profiles, analyse_script
from policy.values import Unreadable

_PROFILES = Profiles.of(shipped_profile_texts())


def _effects(script: str) -> list[CommandEffect]:
    understood = analyse_script(script, _PROFILES)
    assert not isinstance(understood, Unreadable)
    return [effect for one in understood.walk() for effect in one.effects]


def _read(script: str) -> list[str]:
    found = [one for one in _effects(script) if one.verb == "reads" and not one.working_folder]
    return [one.word.text for one in found if one.word]


@pytest.mark.parametrize(
    ("script", "listed"),
    [
        ("echo ../*", "../*"),
        ("printf '%s' /etc/*", "/etc/*"),
        ('for f in ../*; do echo "$f"; done', "../*"),
        ("cd ..; echo *", "*"),
        ("cd $there; echo *", "*"),
        ("echo ~/.*", "~/.*"),
    ],
)
def test_a_wildcard_that_the_shell_replaces_lists_names(script: str, listed: str) -> None:
    found = [one.word.text for one in _effects(script) if one.listed and one.word]

    assert listed in found


@pytest.mark.parametrize("script", ["echo *", "echo '../*'", "echo \\*", "cat <<< ../*"])
def test_names_of_the_folder_itself_and_quoted_wildcards_are_text(script: str) -> None:
    assert not _read(script)


@pytest.mark.parametrize("start", ["npm test --", "npm run x --", "yarn x", "tox --"])
@pytest.mark.parametrize("word", [".env", "--file=.env"])
def test_words_handed_on_may_be_files(start: str, word: str) -> None:
    assert ".env" in _read(f"{start} {word}")


@pytest.mark.parametrize("script", ["npm run build", "npm run build:all -- --watch", "yarn lint"])
def test_names_of_scripts_are_no_files(script: str) -> None:
    assert not _read(script)


@pytest.mark.parametrize("url", ["https://a.example", "--url=HTTP://a.example/x", "x=https://a/"])
def test_a_program_without_profile_may_follow_a_redirect(url: str) -> None:
    assert any(one.redirected for one in _effects(f"fetcher {url}"))


@pytest.mark.parametrize("words", ["ftp://a.example", "a.example", ""])
def test_a_program_without_profile_is_sent_on_by_no_more_than_a_web_address(words: str) -> None:
    assert not any(one.redirected for one in _effects(f"fetcher {words}"))


@pytest.mark.parametrize(
    "script",
    ["busybox ${y:-rm} -rf folder", "busybox $x -f", "xargs ? -f", "xargs $x -r a", "env $x -u A"],
)
def test_the_command_is_unknown_where_an_option_follows_a_word_that_may_be_one(script: str) -> None:
    understood = analyse_script(script, _PROFILES)

    assert not isinstance(understood, Unreadable)
    assert any("which command" in gap for one in understood.walk() for gap in one.gaps)
