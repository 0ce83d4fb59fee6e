"""Words that stand for the folder in which a script starts, and for what a search prints."""

from __future__ import annotations

import pytest

from policy.shell import Script, Word, read_script


def _words(text: str, program: str = "cat") -> tuple[Word, ...]:
    script = read_script(text)
    assert isinstance(script, Script)
    return next(one.words[1:] for one in script.commands if one.words[:1] == (Word(program),))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('cat "$PWD"', "."),
        ('cat "$PWD/a"', "./a"),
        ('cat "${PWD}/a b/*.py"', "./a b/*.py"),
        ('cat "$PWD"/../a', "./../a"),
        ('cat "$(pwd)/a"', "./a"),
        ('X=$PWD; cat "$X/a"', "./a"),
        ('X="$(pwd)/b"; cd c; cat "$X/a"', "./b/a"),
        ('(cd b; ls); cat "$PWD/a"', "./a"),
    ],
)
def test_a_word_below_the_start(text: str, path: str) -> None:
    assert _words(text) == (Word("/", "opaque", tail=_words(text)[0].tail, below_start=path),)


@pytest.mark.parametrize(
    "text",
    [
        'cd b; cat "$PWD/a"', 'cd b || cat "$PWD/a"; cat "$PWD"', 'cat "$PWD/a"; PWD=x',
        'cat "x$PWD"', 'cat "${PWD}x"', 'cat "$PWD/$a"', "cat $PWD/*", 'cat "$PWD/"*',
        'PWD=b; cat "$PWD/a"',
        'while a; do cat "$PWD"; cd b; done', 'f() { cat "$PWD"; }; cd b; f', 'cat "$(pwd; ls)"',
        'pwd() { ls; }; cat "$(pwd)"', 'source a; cat "$PWD"', 'cat "$PWD"; eval b',
        'for PWD in a; do cat "$PWD"; done', 'unset PWD; cat "$PWD"', 'cat "${PWD%/*}"',
    ],
)  # fmt: skip
def test_a_word_that_may_be_elsewhere(text: str) -> None:
    script = read_script(text)
    assert isinstance(script, Script)
    cats = [one for one in script.commands if one.words[:1] == (Word("cat"),)]
    assert cats[-1].words[1].below_start is None
    assert not cats[-1].words[1].known


def test_an_unquoted_word_may_be_split() -> None:
    assert [word.many for word in _words('cat $PWD "$PWD"')] == [True, False]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("cat $(find . -name x)", ["find . -name x"]),
        ("cat $(find . | head -3) a", ["find . | head -3", ""]),
        ("F=$(find .); cat $F", ["find ."]),
        ('for f in $(find .); do cat "$f" $f; done', ["find .", "find ."]),
    ],
)
def test_what_a_search_prints(text: str, printed: list[str]) -> None:
    assert [word.printed for word in _words(text)] == printed


@pytest.mark.parametrize(
    "text",
    [
        'cat "$(find .)"', 'F=$(find .); cat "$F"', "cat a$(find .)", "cat $(find . && ls)",
        "cat $(find .; ls)", "cat $(X=1 find .)", "cat $(find . |& head)", "cd a; cat $(find .)",
        "IFS=/; cat $(find .)", "cat $(find .); IFS=/", "find() { ls; }; cat $(find .)",
        "alias find=ls; cat $(find .)", "cat $(! find .)", "cat `find .`", "cat $($X .)",
        'for f in $(find .); do f=a$f; cat "$f"; done', 'for f in a $(find .); do cat "$f"; done',
    ],
)  # fmt: skip
def test_what_may_be_printed_otherwise(text: str) -> None:
    assert not any(word.printed for word in _words(text))
