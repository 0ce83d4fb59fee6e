"""The printed form of a script parses to the same commands as the script."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy.shell import NotPrintable, Script, Word, printed, read_script
from policy.shell.full_reader import read_tree
from policy.values import Unreadable
from tests.examples import examples
from tests.laws.here_documents import here_documents
from tests.laws.shell_scripts import scripts

# What has no printed form, though it is read.
_NAMED = (
    "an alias",
    "an empty here-document",
    "a compound command without commands",
    "a `;` after",
)


@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(script=scripts() | here_documents())
def test_the_printed_form_parses_to_the_same_commands(script: str) -> None:
    read = read_script(script)
    if isinstance(read, Unreadable):
        assert isinstance(printed(script), NotPrintable)
        return
    form = printed(script)
    if isinstance(form, NotPrintable):
        assert form.reason.startswith(_NAMED), form.reason
        return
    again = read_script(form)
    assert isinstance(again, Script)
    assert read_tree(form) == read_tree(script)
    assert set(again.gaps) <= set(read.gaps)
    if not read.gaps and "< /dev/null" not in form:
        # An empty here-document is read from there; the commands in others are found earlier.
        assert _meanings(again) == _meanings(read)
    assert printed(form) == form


def _meanings(script: Script) -> set[Any]:
    """Return the commands of a script, without how the script of a substitution is spelled."""
    return {_unspelled(command) for command in script.commands}


def _unspelled(part: Any) -> Any:
    if isinstance(part, Word):
        return replace(part, printed="")
    if isinstance(part, tuple):
        return tuple(_unspelled(each) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(
        part, **{f.name: _unspelled(getattr(part, f.name)) for f in fields(part) if f.init}
    )


_CORPUS = Path(__file__).parents[1] / "data/corpora/shell_bypass.jsonl"


@pytest.mark.parametrize("row", _CORPUS.read_text().splitlines())
def test_every_script_of_the_corpus_that_parses_can_be_printed(row: str) -> None:
    script = json.loads(row)["command"]
    if not isinstance(read_script(script), Unreadable):
        form = printed(script)
        assert isinstance(form, str)
        assert printed(form) == form


@pytest.mark.parametrize(
    ("script", "form"),
    [
        ("git status", "git status"),
        ("  ls   -la;", "ls -la"),
        ("rm  \"a b\"'c'\\ d e\"f\"", "rm 'a bc 'd e'f'"),
        ("a $'\\x41\\n' $\"b\"", "a 'A\n' 'b'"),
        ("a $'\\x01\\u200b'", "a $'\\001\\342\\200\\213'"),
        ("a `b \\`c\\``", "a $(b $(c))"),
        ('a $x"$y z"${1}', 'a ${x}"${y} z"${1}'),
        ("a ~/b *.py {c,d} 'e'*", "a ~/b *.py {c,d} 'e'*"),
        ("a; b & c\nd # e", "a; b & c\nd"),
        ("a>b 2>&1 <c d", "a d > b 2>&1 < c"),
        ("a >&b", "a &> b"),
        ("cat <<'E' | b\n$x\n\ny\nE\nc", "cat <<< '$x\n\ny' | b\nc"),
        ("cat <<-E\n\t$x \\$y \"z\"\n\tE\n", 'cat <<< "${x} \\$y \\"z\\""'),
        ("cat 3<<E && b\nE", "cat 3< /dev/null && b"),
        ("( (a) )", "( ( a; ); )"),
        ("x=$( (a) )", "x=$( ( a; ))"),
        ("f() { a; }", "function f () { a; }"),
        ("if a; then b; else c & fi", "if a; then b; else c & fi"),
        ("for x in 1 \"2\"\n{ a; }", "for x in 1 '2'; do a; done"),
        ("case $x in a|'b') c;; *) esac", "case ${x} in (a | 'b') c ;; (*) ;; esac"),
        ("[[ $x =~ ^(a|b)$ && ! -f c ]]", "[[ ${x} =~ ^(a|b)$ && ! -f c ]]"),
        ("x=(1 '2'\n3) y[1]+=$((z+1))", "x=(1 '2' 3) y[1]+=$((z+1))"),
        ("time -p ! a |& b", "time -p ! a |& b"),
        ("coproc N { a; }", "coproc N { a; }"),
        ("'if' \\! \"{\"", "'if' '!' '{'"),
        ("a $x{b,c} ${d:-'e'}", "a $x{b,c} ${d:-'e'}"),
    ],
)  # fmt: skip
def test_the_printed_form_is_canonical(script: str, form: str) -> None:
    assert printed(script) == form


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("a 'b", "a quote that is not closed"),
        ("shopt -s expand_aliases; alias a='b c'; a 'd'", "an alias"),
        ("cat <<E 'a\nb'\nE\n", "a here-document that begins inside of a quote"),
        ("a ${x:-$'b'}", "quotes in a `${` that shells read differently"),
    ],
)
def test_a_script_that_cannot_be_printed_states_the_reason(script: str, reason: str) -> None:
    form = printed(script)
    assert isinstance(form, NotPrintable)
    assert reason in form.reason


@given(st.lists(st.sampled_from(["-rf", "--x=y", "a.txt", "/srv/a", "@", "%1", "+e", ":", ","])))
def test_plain_words_are_their_own_form(words: list[str]) -> None:
    script = " ".join(["git", *words])
    assert printed(script) == script
