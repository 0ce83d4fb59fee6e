"""A word whose value is known expands to the same in bash."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.shell import Word, read_script
from policy.values import Unreadable
from tests.examples import examples

_HOME = "/home/dev"
_PIECES = [
    "a", "b", "/", ".", ",", ":", "=", "-", "~", "{", "}", "{a,b}", "{,x}", "{1..3}", "'", '"',
    "''",
    '""', "'q r'", '"q r"', '"a\\"b"', '"\\n\\$"', "\\ ", "\\~", "\\{", "\\\\", "\\'", "\\\n", "$",
    "$'\\n'", "$'\\x41b'", "$'\\101'", "$'\\u00e9'", "$'\\'", "$'a\\0b'", "$'\\cA'", "$'\\e['",
    "$'\\q'", '$"t"', "$HOME", "${HOME}", "$x", "${x}", '"$x"', "$y", '"$HOME"', "[", "]", "*",
    "\\*",
    "é", "#", "%", "@", "+", "^", "x=", "~/", "$1", "(", ")",
]  # fmt: skip


def of_bash(script: str) -> list[str] | None:
    run = subprocess.run(
        ["/bin/bash", "-c", script],
        capture_output=True,
        check=False,
        cwd="/proc/self/fdinfo",
        env={"HOME": _HOME, "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    if run.stderr:
        return None
    words = run.stdout.decode().split("\0")[:-1]
    # Without words `printf` prints an empty one.
    return words if words != [""] else []


def of_ours(words: tuple[Word, ...]) -> list[str] | None:
    if not all(word.known for word in words):
        return None
    texts = [_HOME + word.text[1:] if word.home else word.text for word in words]
    return texts if texts != [""] else []


def both(script: str) -> tuple[list[str] | None, list[str] | None]:
    read = read_script(script)
    if isinstance(read, Unreadable) or read.gaps or len(read.commands[-1].words) < 2:
        return None, None
    words = read.commands[-1].words
    if words[0].text != "printf" or words[1].text != "%s\\0":
        return None, None
    ours = of_ours(words[2:])
    return ours, None if ours is None else of_bash(script)


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=6).map("".join))
@example("a\\\n=b")
@example("$x\\\ny")
@example("$\\\nx")
@example("~\\\n/b")
def test_a_known_word_expands_as_in_bash(word: str) -> None:
    for script in (f"printf '%s\\0' {word} end", f"x=v/w y='1 2'; printf '%s\\0' {word} end"):
        ours, theirs = both(script)
        if ours is not None:
            assert theirs == ours


@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from(["{", "{", ",", ",", "}", "}", *"ab./~*'"]), max_size=16))
def test_braces_expand_as_in_bash(parts: list[str]) -> None:
    ours, theirs = both(f"printf '%s\\0' {''.join(parts)} end")
    if ours is not None:
        assert theirs == ours


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map("".join))
def test_an_assigned_word_is_what_bash_assigns(word: str) -> None:
    ours, theirs = both(f"q={word}\nprintf '%s\\0' \"$q\" end")
    if ours is not None:
        assert theirs == ours


@settings(max_examples=examples(100))
@given(
    st.lists(st.sampled_from([*_PIECES, "\n", "\nE", "\\\nE", "E"]), max_size=8).map("".join),
    st.sampled_from(["E", "'E'", "\\E"]),
    st.sampled_from(["", "-"]),
)
def test_a_known_here_document_expands_as_in_bash(body: str, end: str, strip: str) -> None:
    loop = "while IFS= read -r -d '' l || [ \"$l\" ]; do printf '%s\\0' \"$l\"; done"
    script = f"{loop} <<{strip}{end}\n{body}\nE\n"
    read = read_script(script)
    if isinstance(read, Unreadable) or read.gaps:
        return
    given = read.commands[3].stdin
    if given is not None and given.known and len(read.commands) == 4:
        assert of_bash(script) == ([given.text] if given.text else [])


@pytest.mark.parametrize(
    "script",
    [
        "cat <<\\\n-E\nx\nE\nprintf '%s\\0' y\n-E\n",
        "x=1; x=2 eval :; printf '%s\\0' $x",
        "x=1; f() { x=2; }; f; printf '%s\\0' $x",
        "x=1; y=x; printf -v $y 2; printf '%s\\0' $x",
        "x=1; for x in 2; do :; done; printf '%s\\0' $x",
        "x=1; true && x=2; printf '%s\\0' $x",
        "x=1; : ${x:=3} $((x=4)); printf '%s\\0' $x",
        "x=1; (x=2); printf '%s\\0' $x",
        "x=1; declare -u x; x=a; printf '%s\\0' $x",
        "UID=5; printf '%s\\0' $UID",
        "x=1-2; IFS=-; printf '%s\\0' $x",
        "x=1; while read x; do :; done <<< 'a'; printf '%s\\0' $x",
        "x=1; unset x; printf '%s\\0' $x a",
        "readonly x=1; printf '%s\\0' $x",
        "x=1; let x=2; printf '%s\\0' $x",
        "x=1; mapfile x <<< a; printf '%s\\0' $x",
        "x=1; read -r x <<< a; printf '%s\\0' $x",
        "x=1; command eval x=3; printf '%s\\0' $x",
        "x=1; y=x; declare $y=3; printf '%s\\0' $x",
        "x=1; getopts a x -a; printf '%s\\0' $x",
        "x=1; { x=2; }; printf '%s\\0' $x",
        "x=1; { x=2; } | cat; printf '%s\\0' $x",
        "x=1; x=2 & wait; printf '%s\\0' $x",
        "x=1; if x=2; then :; fi; printf '%s\\0' $x",
        "x=1 y=$x; printf '%s\\0' $y",
        "x+=1; printf '%s\\0' $x",
        "set -- a; x=$1; printf '%s\\0' $x",
        "x=1; coproc x { :; }; printf '%s\\0' $x",
        "x=1; exec {x}>/dev/null; printf '%s\\0' $x",
        "x=1; trap 'x=5' DEBUG; printf '%s\\0' $x",
        "x=1; x[0]=3; printf '%s\\0' $x",
    ],
)
def test_the_value_of_a_variable_is_not_guessed(script: str) -> None:
    ours, theirs = both(script)
    if ours is not None:
        assert theirs == ours
