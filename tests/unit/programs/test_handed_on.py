"""Words that a program passes to another, or reads as input, may be code; everyday ones pass."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import Profiles, analyse_script
from policy.programs.words.forwarded import may_load_code
from policy.shell import Word
from policy.values import Unreadable

_PROFILES = Profiles.of(shipped_profile_texts())


def _hides(script: str) -> bool:
    understood = analyse_script(script, _PROFILES)
    assert not isinstance(understood, Unreadable)
    return bool(understood.commands[-1].gaps)


def _may_load(words: str) -> bool:
    before: Word | None = None
    found = False
    for text in words.split():
        found = found or may_load_code(Word(text), before)
        before = Word(text)
    return found


@pytest.mark.parametrize(
    "words",
    [
        "--reporter=./evil.js", "--reporter ./evil.js", "--config=evil.js", "-c evil.ini",
        "--require ./x.js", "-r./x.js", "--import=evil", "--setup-files=x", "--globalSetup ./x",
        "-p evil", "--outputFile=/etc/x", "--unheard-of=./x.js", "--test.reporter=./x",
    ],
)  # fmt: skip
def test_an_option_that_may_load_code_is_seen(words: str) -> None:
    assert _may_load(words)


@pytest.mark.parametrize(
    "words",
    [
        "--watch", "--watch=false", "-u", "--coverage", "--reporter=verbose", "--reporter dot",
        "--maxWorkers=2", "-t name", "src/a.test.js", "--run src/a.test.js", "--", "-", "build",
    ],
)  # fmt: skip
def test_everyday_words_are_handed_on_without_harm(words: str) -> None:
    assert not _may_load(words)


def test_a_word_that_is_not_known_may_be_such_an_option() -> None:
    assert may_load_code(Word("", "opaque"), None)
    assert may_load_code(Word("x", "opaque"), Word("--config"))
    assert not may_load_code(Word("src/*", "glob", many=True), None)


@pytest.mark.parametrize(
    ("script", "hides"),
    [
        ("mail -s x ada@a.example <<< 'good news'", False),
        ("mail -s x ada@a.example <<'E'\ngood news\n~!touch x\nE\n", True),
        ("mail -s x ada@a.example < /dev/null", False),
        ("mail -s x ada@a.example < notes.txt", True),
        ("cat notes.txt | mail -s x ada@a.example", True),
        ("telnet a.example 25", False),
        ("printf '\\035!id\\n' | telnet a.example", True),
        ("ssh -T git@a.example", False),
        ("ssh a.example <<< 'touch x'", True),
        ("tar c . | ssh a.example 'tar x'", False),
        ("redis-cli get a", False),
        ("redis-cli < commands.txt", True),
    ],
)
def test_what_is_typed_may_be_a_command(script: str, *, hides: bool) -> None:
    assert _hides(script) is hides
