"""How an item of a set of commands is parsed as a command pattern."""

from __future__ import annotations

import pytest

from policy.programs import CommandPattern, read_command_pattern
from policy.values import Unreadable
from tests.unit.programs.programs import PROFILES


def pattern(text: str) -> CommandPattern:
    read = read_command_pattern(text, PROFILES)
    assert isinstance(read, CommandPattern), read
    return read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A=1",
        "> f",
        "a; b",
        "a | b",
        "a && b",
        "a &",
        "(a)",
        "{ a; }",
        "! a *",
        "time *",
        "if a; then b; fi",
        "f() { a; }",
        "a # comment",
        "g*t status",
        "?",
        "a $b",
        'a "$(b)"',
        "a `b`",
        "a 'b",
        "a \ufdd0",
    ],
)
def test_an_unclear_pattern_is_refused(text: str) -> None:
    assert isinstance(read_command_pattern(text, PROFILES), Unreadable)


@pytest.mark.parametrize("name", ["export", "alias", "declare", "cd", "exec", "trap", ".", "let"])
def test_words_of_the_shell_can_be_patterns(name: str) -> None:
    assert pattern(f"{name} *").program == (name,)


def test_spellings_of_one_pattern_ask_for_the_same() -> None:
    wanted = pattern("sort -r -o * a")
    for text in ("sort -ro* a", "gsort a --reverse --output=*", "/usr/bin/sort -r --out * -- 'a'"):
        read = pattern(text)
        assert read.program == wanted.program
        assert {(one.name, one.value) for one in read.options} == {
            (one.name, one.value) for one in wanted.options
        }
        assert read.steps == wanted.steps


def test_a_pattern_spells_what_a_wrapper_runs() -> None:
    (inner,) = pattern("timeout * git status *").inner
    assert inner.program == ("git", "status")
    (inner,) = pattern("bash -c 'git diff *'").inner
    assert inner.program == ("git", "diff")


@pytest.mark.parametrize("text", ["sudo *", "bash -c *", "timeout 5 *"])
def test_a_wildcard_spells_no_inner_command(text: str) -> None:
    assert not pattern(text).inner


def test_quoted_wildcards_are_letters() -> None:
    (word,) = pattern("echo 'a*'").steps
    assert word is not None and word.known and word.text == "a*"
    (word,) = pattern("echo 'a*'?").steps
    assert word is not None and word.text == r"a\*?" and word.shape == "glob"


def test_an_open_subcommand_is_read_with_each_that_fits() -> None:
    every = pattern("git * --force")
    narrowed = every.narrowed(("git", "push"))
    assert narrowed.program == ("git", "push")
    assert [one.name for one in narrowed.options] == ["--force"]
    assert every.narrowed(("git", "push")) is narrowed
    assert pattern("git st*").narrowed(("git", "push")).program == ("git",)
