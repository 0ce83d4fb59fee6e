"""Errors after which bash skips the rest of a line, but runs the next one."""

from __future__ import annotations

import pytest

from policy.shell import Script, SimpleCommand, printed, read_script

# After each of these, bash drops what follows in the line.
FAILING = (
    ": $((1/0))", 'echo "$((1/0))"', "y=$((08))", "y[-9]=1", "y=([-9]=1)", ": ${y:0:-9}",
    ": ${!none}", "readonly q; q=1", "declare -r q=1; q=2", "readonly $p; q=1", "UID=1",
    "declare -r q; : ${q:=3}", "readonly q; for q in a; do :; done", "case $((1/0)) in a) ;; esac",
    "[[ $((1/0)) ]]", "shopt -s failglob; : none*", "if : $((1/0)); then :; fi",
    "{ : $((1/0)); }", ": <<< $((1/0))", "! : $((1/0))", "exec : $((1/0))", ": | : $((1/0))",
)  # fmt: skip


def last_words(script: str) -> list[tuple[str, str]]:
    """Return the operands and the folders of the last commands as they are known."""
    read = read_script(script)
    assert isinstance(read, Script)
    return [(each.words[-1].text, each.words[-1].shape) for each in read.commands[-1:]]


def _is_cat(command: SimpleCommand) -> bool:
    return bool(command.words) and command.words[0].text == "cat"


@pytest.mark.parametrize("failing", FAILING)
@pytest.mark.parametrize(
    "script",
    [
        "x=one; {}; x=two\ncat $x",
        "x=one\n{{ {}\nx=two\n}}\ncat $x",
        "x=one\nif true; then {}; x=two; fi\ncat $x",
    ],
)
def test_a_variable_set_where_the_line_may_be_dropped_is_not_known(
    failing: str, script: str
) -> None:
    assert last_words(script.format(failing)) in ([("", "opaque")], [("", "many")])


@pytest.mark.parametrize("failing", FAILING)
def test_a_folder_left_where_the_line_may_be_dropped_may_be_the_one_before(failing: str) -> None:
    read = read_script(f"cd sub || {{ {failing}; exit 1; }}\ncat x")
    assert isinstance(read, Script)
    folders = [each.folders for each in read.commands if _is_cat(each)]
    assert () in folders


@pytest.mark.parametrize(
    "script",
    [
        "readonly x; x=two\ncat $x",
        "x=one; readonly x; x=two\ncat $x",
        "f() { : $((1/0)); }\nx=one; f; x=two\ncat $x",
    ],
)
def test_a_variable_that_may_not_have_been_set_is_not_known(script: str) -> None:
    assert last_words(script) in ([("", "opaque")], [("", "many")])


@pytest.mark.parametrize(
    "script",
    [
        "x=two; n=$((1 + 1)); cat $x",
        "n=$((1 + 1))\nx=two\ncat $x",
        "x=two\nn=$((1 + 1)); m=$n\ncat $x",
        "x=one; (: $((1/0))); x=two\ncat $x",
        "x=one; : $(echo $((1/0))); x=two\ncat $x",
        "readonly y=1; x=two\ncat $x",
    ],
)
def test_what_was_set_in_another_line_or_shell_stays_known(script: str) -> None:
    assert last_words(script) == [("two", "known")]


def test_a_folder_that_is_left_behind_an_error_elsewhere_stays_known() -> None:
    read = read_script("(cd sub && n=$((1 + 1)))\ncat x")
    assert isinstance(read, Script)
    assert [each.folders for each in read.commands if _is_cat(each)] == [()]


@pytest.mark.parametrize("script", ["y[0]=a", "y[i]=$x", "y[0]=a; y[0]+=b", "y+=(a)", "y[0]=(a)"])
def test_an_element_is_set_or_added_to_as_it_was_spelled(script: str) -> None:
    form = printed(script)
    assert isinstance(form, str)
    assert form.count("+=") == script.count("+=")
