"""Command patterns: whole words, operands under a `*`, and doubt about everything else."""

from __future__ import annotations

import pytest

from policy.values import (
    CommandPattern,
    Redirection,
    Script,
    SimpleCommand,
    Unreadable,
    command_fits,
    harmless_redirection,
    read_command_pattern,
    read_script,
    uncovered_redirections,
)


def command(text: str) -> SimpleCommand:
    script = read_script(text)
    assert isinstance(script, Script), script
    (only,) = script.commands
    return only


def pattern(text: str) -> CommandPattern:
    read = read_command_pattern(text)
    assert isinstance(read, CommandPattern), read
    return read


@pytest.mark.parametrize(
    ("text", "item", "answer"),
    [
        ("git status", "git status", True),
        ("git  'status'", "git status", True),
        ("git status", "git", False),
        ("git statusx", "git status *", False),
        ("git-status", "git *", False),
        ("git diff", "git diff *", True),
        ("git diff a b", "git diff *", True),
        ("git diff HEAD -- a.txt", "git diff *", True),
        ("git diff --ext-diff", "git diff *", None),
        ("git diff --stat", "git diff --stat *", True),
        ("ls +x", "ls *", None),
        ("cat -", "cat *", True),
        ("a b c d", "a * d", True),
        ("a d", "a * d", False),
        ("a -x d", "a * d", None),
        ("date +%F", "date +*", True),
        ("date -s x", "date +*", None),
        ("cat a.txt", "cat *.txt", True),
        ("cat -x.txt", "cat *.txt", None),
        ("echo 'a b'", 'echo "a b"', True),
        ("echo 'x*'", "echo 'x*'", True),
        ("echo xy", "echo 'x*'", False),
        # The pattern's options, at another place or in another spelling.
        ("rm x -rf", "rm -rf *", None),
        ("rm -fr x", "rm -rf *", None),
        ("rm x", "rm -rf *", False),
        ("git push origin --force", "git push --force *", None),
        ("git -c a=b push --force", "git push --force *", None),
        ("git push origin feature/force", "git push --force *", False),
        ("git push origin :branch", "git push --delete *", None),
        ("git status -s", "git push *", False),
        # The same program by another name.
        ("/bin/rm -rf x", "rm *", None),
        ("/bin/rm x", "rm x", None),
        ("./rm x", "ls *", False),
        ("/bin/rm x", "/bin/rm *", True),
        ("rm x", "/bin/rm *", False),
        # What runs other commands is never known, unless it is spelled out whole.
        ("sudo rm x", "rm *", None),
        ("bash build.sh", "bash *", None),
        ("bash build.sh", "bash build.sh", True),
        ("bash build.sh", "rm *", None),
        ("make test", "make *", True),
        ("anything at all", "*", True),
        # Variables.
        ("TZ=UTC date", "date", True),
        ("LC_ALL=C sort x", "sort *", True),
        ("LD_PRELOAD=x git status", "git status", None),
        ("LD_PRELOAD=x ls", "git status", False),
        ("A=1 date", "A=* date", True),
        ("A=1 B=2 date", "A=* date", None),
        ("A=2 date", "A=1 date", False),
        ("date", "A=* date", False),
        # Redirections.
        ("ls >/dev/null 2>&1", "ls *", True),
        ("ls > f", "ls *", None),
        ("ls > f", "ls * > f", True),
        ("ls > g", "ls * > f", None),
        ("ls", "ls * > f", False),
        ("ls > out/../../x", "ls > out/*", None),
        ("> f", "ls *", False),
    ],
)
def test_a_command_fits_a_pattern(text: str, item: str, answer: bool | None) -> None:
    assert command_fits(command(text), pattern(item)) is answer


def test_redirections_may_be_another_clauses() -> None:
    given = command("sort a > out 2> err")
    assert command_fits(given, pattern("sort *"), redirections_covered=True) is True
    assert uncovered_redirections(given) == given.redirections
    assert uncovered_redirections(given, pattern("sort * > out")) == (
        Redirection(op=">", target="err", fd=2),
    )
    copies = command("a 2>&1 </dev/null >f").redirections
    assert [harmless_redirection(item) for item in copies] == [True, True, False]


@pytest.mark.parametrize(
    "text", ["", "A=1", "> f", "a; b", "a | b", "a && b", "g*t status", "a $b", "a `b`", "a 'b"]
)
def test_an_unclear_pattern_is_refused(text: str) -> None:
    assert isinstance(read_command_pattern(text), Unreadable)
