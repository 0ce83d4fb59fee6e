"""Whether a set of patterns covers a command and everything it runs, and what is uncovered."""

from __future__ import annotations

import pytest

from policy.programs import PatternSet, covers, runs_any
from policy.programs.patterns.uncovered import uncovered_commands
from tests.unit.programs.patterns.test_match import invocation
from tests.unit.programs.patterns.test_pattern import pattern


def covered(text: str, *items: str, redirections_covered: bool = False) -> bool | None:
    patterns = [pattern(item) for item in items]
    given = invocation(text)
    answer = covers(given, patterns, redirections_covered=redirections_covered)
    by_program = PatternSet(patterns)
    assert covers(given, by_program, redirections_covered=redirections_covered) is answer
    return answer


@pytest.mark.parametrize(
    ("text", "items", "answer"),
    [
        ("git status", ["echo *", "git status"], True),
        ("git push", ["echo *", "git status"], False),
        ("git push", [], False),
        # What needs no pattern.
        ("pwd", [], True),
        ("pwd > f", ["echo *"], False),
        ("x=1", ["echo *"], True),
        ("x=1 y=$z", ["echo *"], True),
        ("LD_PRELOAD=x", ["echo *"], False),
        ("PATH=.", ["*"], False),
        ("./pwd", ["git *"], False),
        ("/bin/pwd", [], True),
        ("./timeout 5 git status", ["git *"], False),
        # A wrapper without harm is free, one with harm has a pattern of its own.
        ("timeout 5 git status", ["git status"], True),
        ("timeout 5 git push", ["git status"], False),
        ("timeout -k 1 5 git status", ["git status"], True),
        ("timeout 5 timeout 6 git status", ["git status"], True),
        ("sudo git status", ["git status"], False),
        ("sudo git status", ["sudo *"], False),
        ("sudo git status", ["sudo *", "git status"], True),
        ("sudo -n git status", ["sudo *", "git status"], True),
        ("sudo --user=x git status", ["sudo *", "git status"], None),
        # One pattern may spell both.
        ("sudo git status", ["sudo git status"], True),
        ("sudo git diff x", ["sudo git diff *"], True),
        ("sudo git diff --output=x", ["sudo git diff *"], None),
        ("sudo git push", ["sudo git status", "git push"], False),
        ("sudo timeout 5 git status", ["sudo timeout * git status"], True),
        ("timeout 9 git status", ["timeout * git status"], True),
        ("bash -c 'git status'", ["git status"], False),
        ("bash -c 'git status'", ["bash *", "git status"], None),
        ("bash -c 'git status'", ["bash -c *", "git status"], True),
        ("bash -c 'git status'", ["bash -c *"], False),
        ("bash -c 'git status'", ["bash -c 'git *'"], True),
        ("bash -c 'git status; git push'", ["bash -c 'git status'"], False),
        ("bash -c 'git status; git push'", ["bash -c *", "git *"], True),
        ("xargs -n 1 git diff", ["xargs *", "git diff *"], None),
        ("xargs echo a", ["xargs *", "echo *"], True),
        # Out of sight: only what spells it.
        ('bash -c "$x"', ["bash -c *", "git *"], None),
        ("python -c 'x'", ["python *"], None),
        ("python -c 'x'", ["python -c *"], True),
        ("python -c 'x'", ["python -c x"], True),
        ("python -c 'y'", ["python -c x"], False),
        ("python", ["python *"], None),
        ("python x.py", ["python *"], True),
        ("python <<< x", ["python *"], None),
        ("vim x", ["vim *"], None),
        ("vim x", ["vim x"], True),
        ("vim x", ["vim x*"], None),
        ("bash", ["bash"], True),
        ("bash <<< x", ["bash"], False),
        ("bash < x", ["bash *"], None),
        ("bash < x", ["bash < x"], True),
        ("git frobnicate x", ["git *"], None),
        ("git frobnicate x", ["git frobnicate *"], True),
        ("LD_PRELOAD=x git status", ["LD_PRELOAD=* git status"], True),
        ("$x", ["*"], None),
        ("timeout 5 $x", ["*"], None),
    ],
)
def test_a_chain_is_covered(text: str, items: list[str], answer: bool | None) -> None:
    assert covered(text, *items) is answer


def test_redirections_may_be_another_clauses() -> None:
    assert covered("bash < x", "bash *", redirections_covered=True) is None
    assert covered("echo x > f", "echo *") is None
    assert covered("echo x > f", "echo *", redirections_covered=True) is True
    assert covered("> f", "echo *") is False
    assert covered("> f", "echo *", redirections_covered=True) is True
    assert covered("pwd > f", "echo *", redirections_covered=True) is True


@pytest.mark.parametrize(
    ("text", "items", "answer"),
    [
        ("rm -fr x", ["rm -rf *"], True),
        ("timeout 5 rm -fr x", ["rm -rf *"], True),
        ("sudo bash -c 'rm -fr x'", ["rm -rf *"], True),
        ("sudo bash -c 'rm -fr x'", ["sudo rm *"], True),
        ("xargs rm -rf", ["rm -rf *"], True),
        ("xargs rm", ["rm -rf *"], None),
        ("echo rm", ["rm *"], False),
        ("rm x > f", ["rm *"], None),
        ("bash -c 'git status'", ["git push"], False),
        ("python -c 'x'", ["git push"], None),
        ("vim x", ["git push"], None),
        ("$x -rf", ["rm *"], None),
        ("git frobnicate", ["git push *"], None),
        ("git status", ["git push *"], False),
        ("pwd", ["rm *"], False),
    ],
)
def test_one_command_of_a_chain_is_enough(text: str, items: list[str], answer: bool | None) -> None:
    patterns = [pattern(item) for item in items]
    assert runs_any(invocation(text), patterns) is answer
    assert runs_any(invocation(text), PatternSet(patterns)) is answer


def test_of_a_set_only_patterns_that_may_fit_are_asked() -> None:
    rm, git, anything = patterns = [pattern(item) for item in ("rm *", "git *", "* --version")]
    found = PatternSet(patterns)
    assert found.candidates(invocation("rm -rf x")) == (rm, anything)
    assert found.candidates(invocation("/bin/git log")) == (git, anything)
    assert found.candidates(invocation("ls")) == (anything,)
    assert found.candidates(invocation("$x -rf")) == tuple(found) == (rm, git, anything)


@pytest.mark.parametrize(
    ("text", "items", "phrase"),
    [
        ("rm x", ["git *"], "no pattern names `rm`"),
        ("sort -o f x", ["sort *"], "`-o` of `sort` writes, runs or connects"),
        ("sort -z x", ["sort *"], "what `-z` of `sort` does is not known"),
        ("git diff --stat", ["git diff"], "`--stat` of `git diff` is not in the pattern"),
        ('sort "$x"', ["sort *"], "may be an option of `sort`"),
        ("prog -x", ["prog *"], "`-x` may be an option of `prog`"),
        ("./git status", ["git *"], "`./git` may be another program"),
        ("A_HOST=b git status", ["git *"], "the variable `A_HOST`"),
        ("echo x > f", ["echo *"], "the redirection `>` `f`"),
        ("vim x", ["vim *"], "may run commands that its words do not show"),
        ("sudo git push", ["sudo *", "git status"], "no pattern names `git push`"),
        ("git push a", ["git push b"], "`git push a` does not match `git push b`"),
        ("awk '{system(1)}'", ["awk *"], "makes `awk` write, run or connect"),
        ("timeout 5 $x", ["git *"], "name is not known"),
    ],
)
def test_what_is_missed_is_named(text: str, items: list[str], phrase: str) -> None:
    patterns = [pattern(item) for item in items]
    (_, why), *_ = uncovered_commands(invocation(text), patterns)
    assert phrase in why


def test_every_command_of_a_chain_that_is_missed_is_named() -> None:
    missed = uncovered_commands(invocation("timeout 5 timeout 6 git push"), [pattern("timeout *")])
    assert [(one.command.text, why) for one, why in missed] == [
        ("git push", "no pattern names `git push`")
    ]


def test_a_deep_chain_is_asked_once_a_command() -> None:
    text = "timeout 1 " * 6 + "git status"
    spelled = [f"timeout {number} timeout * git push" for number in range(30)]
    assert covered(text, *spelled, "git push") is False
    assert covered(text, *spelled, "git status") is True
