"""Matching commands with patterns: by meaning for known programs, with doubt for unknown ones."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profiles
from policy.programs import (
    Invocation,
    analyse_script,
    is_harmless_redirection,
    matches_command,
    read_command_pattern,
)
from policy.programs.patterns.match import uncovered_redirections
from policy.shell import read_script
from policy.values import Unreadable
from tests.unit.programs.patterns.test_pattern import pattern
from tests.unit.programs.programs import PROFILES


def invocation(text: str) -> Invocation:
    understood = analyse_script(text, PROFILES)
    assert not isinstance(understood, Unreadable), understood
    return understood.commands[0]


# Of a program that has a profile: the command, the pattern, whether it fits.
PROFILED: list[tuple[str, str, bool | None]] = [
    ("git status", "git status", True),
    ("git  'status'", "git status", True),
    ("git status", "git", False),
    ("git", "git status", False),
    ("git", "git *", True),
    ("git status", "git *", True),
    ("git status x", "git status", False),
    ("git statusx", "git status *", False),
    ("git diff", "git diff *", True),
    ("git diff a b", "git diff *", True),
    ("git diff HEAD -- a.txt", "git diff *", True),
    ("git diff HEAD -- a.txt", "git diff HEAD a.txt", True),
    ("git diff b a", "git diff a b", False),
    ("git diff a b c", "git diff a * c", True),
    ("git diff a c", "git diff a * c", False),
    ("git diff a.txt", "git diff *.txt", True),
    ("git diff", "git diff *.txt", False),
    # Harmless options need a `*`, those that do harm are spelled.
    ("git diff --stat", "git diff *", True),
    ("git diff --stat", "git diff", None),
    ("git diff --stat", "git diff --stat", True),
    ("git diff --stat a", "git diff --stat *", True),
    ("git diff a", "git diff --stat *", False),
    ("git diff --output=x", "git diff *", None),
    ("git diff --output x a", "git diff --output=* *", True),
    ("git diff --output x a", "git diff --output=y *", False),
    ("git diff --ext-diff", "git diff *", None),
    ("git diff --mystery", "git diff *", None),
    ("git --no-pager diff", "git diff *", True),
    ("git -C x diff", "git -C * diff *", True),
    ("git push --force", "git * --force", True),
    ("git push -f origin", "git * --force", True),
    ("git push origin", "git * --force", False),
    ("git push origin", "git p* *", True),
    ("git status", "git p* *", False),
    # One option by all its spellings, in any order.
    ("rm -fr x", "rm -rf *", True),
    ("rm x -rf", "rm -rf *", True),
    ("rm -r -f x", "rm -rf *", True),
    ("rm -rfv x", "rm -rf *", True),
    ("rm --recursive --force -- x", "rm -rf *", True),
    ("rm --rec --fo x", "rm -rf *", True),
    ("rm -r x", "rm -rf *", False),
    ("/bin/rm -rf x", "rm -rf *", True),
    ("rm -rf x", "/bin/rm -rf *", True),
    ("./rm -rf x", "rm -rf *", None),
    ("./rm -rf x", "./rm *", True),
    ("rm x", "./rm *", False),
    ("gsort -k2 x", "sort -k 2 *", True),
    ("sort --key=2 x", "sort -k 2 *", True),
    ("sort -k 3 x", "sort -k 2 *", False),
    ("sort -k 3 x", "sort -k * *", True),
    ("sort x -o y", "sort -o *", True),
    ("sort -o y x z", "sort -o *", True),
    ("sort -o y -o z x", "sort -o y *", None),
    ("git push origin +main", "git push --force *", True),
    ("git push origin main", "git push --force *", False),
    # What is not known fits a wildcard, and never a literal.
    ('sort "a$x"', "sort *", True),
    ('sort "$x"', "sort *", None),
    ('echo "$x"', "echo *", True),
    ('echo "$x"', "echo a", None),
    ('echo "b$x"', "echo a", False),
    ('echo "a$x"', "echo a*", True),
    ("echo $x", "echo a b", None),
    ("echo a *", "echo *", True),
    ("git push $x", "git push --force *", None),
    ("git $x", "git push *", None),
    ("$x push", "git push *", None),
    ("$x", "*", True),
    ("ls -l", "*", None),
    ("git diff --stat", "*", True),
    ("git diff --output=x", "*", None),
    # A program in an operand is spelled, a variable at least by its name.
    ("export A=./x", "export *", None),
    # A plain setting is judged with the programs that see it.
    ("export A=1", "export *", True),
    ("export A=1", "export A=*", True),
    ("export B=1", "export A=*", False),
    ("awk '{print $1}' x", "awk *", True),
    ("awk '{system(\"x\")}' x", "awk *", None),
    ("awk '{system(\"x\")}' x", "awk '{system(\"x\")}' *", True),
]

# Of a program that nothing is known of.
UNPROFILED: list[tuple[str, str, bool | None]] = [
    ("prog a b", "prog a b", True),
    ("prog a b", "prog", False),
    ("prog", "prog *", True),
    ("prog a b c d", "prog a * d", True),
    ("prog a d", "prog a * d", False),
    ("prog a -x d", "prog a * d", None),
    ("prog -x", "prog *", None),
    ("prog +x", "prog *", None),
    ("prog -", "prog *", True),
    ("prog -x y", "prog -x *", True),
    ("prog y -x", "prog -x *", None),
    ("prog +%F", "prog +*", True),
    ("prog a.txt", "prog *.txt", True),
    ("prog -a.txt", "prog *.txt", None),
    ("prog x", "prog -x *", False),
    ("prog 'x*'", "prog 'x*'", True),
    ("prog xy", "prog 'x*'", False),
    ('prog "$x"', "prog *", None),
    ('prog "a$x"', "prog *", True),
    ("/opt/prog x", "prog *", None),
    ("/opt/prog x", "/opt/prog *", True),
    ("cd sub && ./prog x", "./prog *", None),
    ("prog-x", "prog *", False),
]


@pytest.mark.parametrize(("text", "item", "answer"), [*PROFILED, *UNPROFILED])
def test_a_command_fits_a_pattern(text: str, item: str, answer: bool | None) -> None:
    understood = analyse_script(text, PROFILES)
    assert not isinstance(understood, Unreadable), understood
    assert matches_command(understood.commands[-1], pattern(item)) is answer


@pytest.mark.parametrize(
    ("text", "item", "answer"),
    [
        ("TZ=UTC echo", "echo", True),
        ("LC_ALL=C sort x", "sort *", True),
        ("LD_PRELOAD=x git status", "git status", None),
        ("LD_PRELOAD=x git status", "LD_PRELOAD=* git status", True),
        ("A=1 echo", "echo", None),
        ("A=1 echo", "A=* echo", True),
        ("A=1 B=2 echo", "A=* echo", None),
        ("A=2 echo", "A=1 echo", False),
        ("A=$x echo", "A=1 echo", None),
        ("A=$x echo", "A=* echo", True),
        ("echo", "A=* echo", False),
        ("echo >/dev/null 2>&1", "echo", True),
        ("echo x > f", "echo *", None),
        ("echo x > f", "echo * > f", True),
        ("echo x 1> f", "echo * > f", True),
        ("echo x >| f", "echo * > f", True),
        ("echo x >> f", "echo * > f", None),
        ("echo x 2> f", "echo * > f", None),
        ("echo x > g", "echo * > f", None),
        ('echo x > "$f"', "echo * > f", None),
        ('echo x > "$f"', "echo * > *", True),
        ("echo x", "echo * > f", False),
        ("echo x > out/../../y", "echo * > out/*", None),
        ("sort <<< x", "sort *", True),
        ("> f", "echo *", False),
    ],
)
def test_variables_and_redirections_are_spelled(text: str, item: str, answer: bool | None) -> None:
    assert matches_command(invocation(text), pattern(item)) is answer


def test_redirections_may_be_another_clauses() -> None:
    given = invocation("sort a > out 2> err")
    assert matches_command(given, pattern("sort *"), redirections_covered=True) is True
    assert uncovered_redirections(given) == given.command.redirections
    (left,) = uncovered_redirections(given, pattern("sort * > out"))
    assert left.target.text == "err"
    copies = invocation("a 2>&1 </dev/null >f").command.redirections
    assert [is_harmless_redirection(item) for item in copies] == [True, True, False]


def test_a_long_command_is_compared_in_one_walk() -> None:
    words = " ".join(["a", "b"] * 900)
    command = invocation(f"echo {words}")
    assert matches_command(command, pattern("echo " + "* a " * 30 + "c")) is False
    assert matches_command(command, pattern("echo " + "* a " * 30 + "*")) is True


def test_nothing_raises_on_what_a_reader_gives() -> None:
    for text in ("", ":", "*", "$x=1", "=", "''", "'' a", "-x", "--", "~", "~root x", "a=( )"):
        script = read_script(text)
        if not isinstance(script, Unreadable) and script.commands:
            assert matches_command(invocation(text), pattern("echo *")) in (True, False, None)


def test_code_that_is_named_from_another_folder_is_not_what_a_pattern_spells() -> None:
    profiles = shipped_profiles()
    spelled = read_command_pattern("python3 tools/x.py *", profiles)
    assert not isinstance(spelled, Unreadable)
    for script, answer in (
        ("python3 tools/x.py a", True),
        ("cd /tmp/evil && python3 tools/x.py a", None),
        ("cd /tmp/evil; python3 tools/x.py", None),
    ):
        read = analyse_script(script, profiles)
        assert not isinstance(read, Unreadable)
        assert matches_command(read.commands[-1], spelled) is answer, script


@pytest.mark.parametrize("command", ["rm -f build/*.o", "rm -f ./*.log"])
def test_files_that_cannot_begin_with_a_dash_are_no_options(command: str) -> None:
    profiles = shipped_profiles()
    spelled = read_command_pattern("rm -rf *", profiles)
    read = analyse_script(command, profiles)
    assert not isinstance(spelled, Unreadable)
    assert not isinstance(read, Unreadable)
    assert matches_command(read.commands[0], spelled) is False
