"""The files that a search finds and passes to another program through a pipe."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profiles
from policy.programs import ScriptAnalysis, analyse_script
from policy.shell import Word


def operands_run(script: str) -> list[Word]:
    """Return the last operands of what `grep` is run with, in the script's last command."""
    read = analyse_script(script, shipped_profiles())
    assert isinstance(read, ScriptAnalysis)
    return [inner.operands[-1].word for inner in read.commands[-1].inner if inner.operands]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("find . -print0 | xargs -0 grep -e x", "./*"),
        ("find src -name '*.py' -print0 | xargs -0 grep -e x", "src/*/*.py"),
        ("find . -name x -print0 2>/dev/null | xargs -0 -r -n 1 grep -e x", "./*/x"),
        ("find . -print0 | xargs -0 -I{} grep -e x {}", "./*"),
        ("cd a; find . -print0 | xargs -0 grep -e x", "./*"),
        ('x=1; find . -print0 | xargs -0 grep -e "$x"', "./*"),
        ("find . ! -name x -print0 | xargs -0 grep -e x", "./*"),
        ("find . -print0 -name x | xargs -0 grep -e x", "./*"),
        ("find . -name x -o -name y -exec grep -e x {} +", "./*"),
        ("find . -not -path './.git/*' -exec grep -e x {} +", "./*"),
        ("find . -exec grep -e x {} + -name y", "./*"),
        ("find . -name x -o -type f -exec grep -e x {} +", "./*"),
        ("find . -name y -exec grep -e x {} +", "./*/y"),
    ],
)
def test_what_is_found_lies_below_where_the_search_begins(script: str, found: str) -> None:
    words = operands_run(script)
    assert words
    assert {(word.text, word.shape) for word in words} == {(found, "glob")}


def test_where_nothing_may_be_found_a_program_may_run_without() -> None:
    read = analyse_script("find . -print0 | xargs -0 cp a b", shipped_profiles())
    assert isinstance(read, ScriptAnalysis)
    assert [len(each.operands) for each in read.commands[-1].inner] == [2, 3]


@pytest.mark.parametrize(
    "script",
    [
        "find . | xargs grep -e x",  # a blank in a name makes two of it
        "find . -print0 | xargs grep -e x",
        "find . | xargs -0 grep -e x",
        "find . -print0 -print | xargs -0 grep -e x",
        "find . -printf /etc/passwd -print0 | xargs -0 grep -e x",
        "find . -exec echo {} + -print0 | xargs -0 grep -e x",
        "find . -fprintf /dev/stdout x -print0 | xargs -0 grep -e x",
        "find $x -print0 | xargs -0 grep -e x",
        "find $(x) -print0 | xargs -0 grep -e x",
        "find . -print0 | xargs -0 -d , grep -e x",
        "find . -print0 | xargs -0 -a list grep -e x",
        "find . -print0 |& xargs -0 grep -e x",
        "find . -print0 > list | xargs -0 grep -e x",
        "find . -print0 2>&1 | xargs -0 grep -e x",
        "find . -print0 | tr a b | xargs -0 grep -e x",
        "find . -print0 | xargs -0 grep -e x < list",
        "find . -print0; cat list | xargs -0 grep -e x",
        "find() { cat list; }; find . -print0 | xargs -0 grep -e x",
        "find . -print0 | xargs -0 grep -e x; find() { cat list; }",
        "(find . -print0; cat list) | xargs -0 grep -e x; true | xargs -0 grep -e x",
        "eval x; find . -print0 | xargs -0 grep -e x",
    ],
)
def test_what_else_may_stand_in_the_pipe_is_not_known(script: str) -> None:
    read = analyse_script(script, shipped_profiles())
    assert isinstance(read, ScriptAnalysis)
    taking = [one for one in read.commands if one.program == ("xargs",)]
    assert taking
    for each in taking:
        assert [one.operands[-1].word.shape for one in each.inner] == ["opaque"]


def test_a_function_that_other_shells_get_is_a_gap() -> None:
    for script in ("export -f find", "declare -fx find", "typeset -xf find"):
        read = analyse_script(f"find() {{ cat list; }}; {script}; bash -c x", shipped_profiles())
        assert isinstance(read, ScriptAnalysis)
        assert read.gaps


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("fd x a -x grep -e x", "a/*"),
        ("fd -H x -X grep -e x", "./*"),
        ("fd -x grep -e x", "./*"),
        ("fd . ./a/b ./a/c -x grep -e x", "./a/*"),
    ],
)
def test_what_a_search_is_for_is_not_where_it_begins(script: str, found: str) -> None:
    assert {word.text for word in operands_run(script)} == {found}


@pytest.mark.parametrize(
    "script",
    [
        "find a/../k a/b -exec grep -e x {} +",
        "find a/b a/c/../../k -print0 | xargs -0 grep -e x",
        "fd --search-path a x -x grep -e x",
        "fd $x -x grep -e x",
    ],
)
def test_where_a_search_begins_is_not_known_behind_what_leads_out_or_elsewhere(script: str) -> None:
    assert {word.shape for word in operands_run(script)} == {"opaque"}
